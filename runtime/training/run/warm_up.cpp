#include "runtime/training/run/warm_up.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/math/random.h"
#include "runtime/training/run/collector.h"
#include "runtime/training/run/progress.h"

namespace allot::training {
namespace {

void append(TrainSequence& sequence, const std::vector<int>& tokens, bool trained) {
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  sequence.trained.resize(sequence.tokens.size(), trained ? 1 : 0);
}

// What the expert does within the turn limit: a task that is too long for it is shown as far as it goes, so that the
// learner knows how to set about such tasks too. None where the world has no expert or ends the rollout without a reward.
Result<std::optional<TrainSequence>> demonstrate(worlds::Session& session, const worlds::Task& task,
                                                 const Tokenizer& tokenizer, int turn_limit) {
  auto reply = session.reset(task);
  if (!reply) return reply.error();
  TrainSequence sequence;
  append(sequence, {tokenizer.bos()}, false);
  append(sequence, observation_tokens(tokenizer, reply->observation), false);
  for (int turn = 0; turn < turn_limit; ++turn) {
    const auto action = session.expert_action();
    if (!action) return std::optional<TrainSequence>{};
    auto tokens = tokenizer.encode(*action);
    tokens.push_back(tokenizer.newline());
    append(sequence, tokens, true);
    reply = session.act(*action);
    if (!reply) return reply.error();
    if (reply->done) {
      if (reply->reward.value_or(0) > 0) return std::optional<TrainSequence>{std::move(sequence)};
      return std::optional<TrainSequence>{};
    }
    append(sequence, observation_tokens(tokenizer, reply->observation), false);
  }
  return std::optional<TrainSequence>{std::move(sequence)};
}

}  // namespace

Result<std::vector<TrainSequence>> demonstrations(worlds::World& world, const Tokenizer& tokenizer, int count,
                                                  int turn_limit, int max_tokens) {
  std::vector<TrainSequence> sequences;
  auto session = world.open();
  if (!session) return session.error();
  const auto tasks = world.tasks(worlds::Split::Training);
  const auto wanted = std::min(tasks.size(), static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t i = 0; i < wanted; ++i) {
    auto sequence = demonstrate(**session, tasks[i], tokenizer, turn_limit);
    if (!sequence) return sequence.error();
    if (*sequence && static_cast<int>((*sequence)->tokens.size()) <= max_tokens) sequences.push_back(*std::move(*sequence));
  }
  return sequences;
}

Result<double> warm_up(Trainer& trainer, const std::vector<TrainSequence>& demonstrations, const RunOptions& options,
                       std::uint64_t seed, bool quiet) {
  if (demonstrations.empty()) return Error{"the world gave no demonstrations to warm up on", "start from a --model"};
  Progress progress("warm-up", options.warm_up_steps, "batches", quiet);
  double last = 0;
  int counted = 0;
  for (int step = 0; step < options.warm_up_steps; ++step) {
    std::vector<TrainSequence> batch;
    for (int i = 0; i < options.warm_up_batch; ++i)
      batch.push_back(demonstrations[math::below(demonstrations.size(), seed, static_cast<std::uint64_t>(step),
                                                 static_cast<std::uint64_t>(i))]);
    const double share = static_cast<double>(step) / options.warm_up_steps;
    auto report = trainer.warm_up(batch, options.warm_up_rate * (1 - 0.9 * share), options.update.micro_tokens);
    if (!report) return report.error();
    if (step + 10 >= options.warm_up_steps) {
      last += report->loss;
      ++counted;
    }
    progress.advance(fmt::format("loss {:.3f}", report->loss));
  }
  return counted > 0 ? last / counted : 0.0;
}

}  // namespace allot::training
