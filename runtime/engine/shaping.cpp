// What comes between generation and the loss: `shape` and `replay`.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/stopwatch.h"

namespace allot::engine {

using lang::Point;
using lang::Subject;

bool LiveEngine::wants_gram() const {
  const std::shared_lock lock(mutex_);
  return demands_.gram;
}

bool LiveEngine::wants_embeddings() const {
  const std::shared_lock lock(mutex_);
  return demands_.embeddings;
}

bool LiveEngine::shapes_groups() const {
  const std::shared_lock lock(mutex_);
  return points_.has(Point::Shape, Subject::Group);
}

bool LiveEngine::shapes_micro_batches() const {
  const std::shared_lock lock(mutex_);
  return points_.has(Point::Shape, Subject::MicroBatch);
}

int LiveEngine::replay_age() const {
  const std::shared_lock lock(mutex_);
  return replay_age_;
}

std::shared_ptr<const TokenLoss> LiveEngine::token_loss() {
  const Event event(*this);
  const std::vector<int> handlers = judge_ && in_iteration_ && !shadow() ? points_.handlers(Point::Loss) : std::vector<int>();
  if (handlers.empty()) return nullptr;
  if (!token_loss_) {
    token_loss_ = std::make_shared<TokenLoss>(policy_, handlers.front(), store_, iteration_, pool_.epoch());
  }
  return token_loss_;
}

// Tokens are too many to be told of one by one: the journal has how often each rule answered, and the first fault.
void LiveEngine::note_losses() {
  if (token_loss_) losses_ = token_loss_->tally();
  if (!losses_) return;
  tallies_.loss_tokens = losses_->asked;
  tallies_.loss_faults = losses_->faults;
  audit_.losses(iteration_, version_->number, *losses_);
  if (tallies_.loss_faults > 0) {
    const std::string text = fmt::format("{} tokens took the trainer's own loss: {}", tallies_.loss_faults, losses_->first_fault);
    messages_.push_back("fault: " + text);
    if (settings_.stop_on_fault) {
      fatal_ = Error{"The policy faulted: " + text + ".", "the run stops on a fault, as it was told to"};
    }
  }
  token_loss_.reset();
  losses_.reset();
}

namespace {

Error malformed(const std::string& what) { return Error{"shape: " + what, "this is a fault of the host"}; }
Error too_late() { return Error{"shape: no iteration is under way.", "ask between `batch_closed` and end_iteration()"}; }

// By sample, from the rows of the rollouts that are trained on; zeros for the others.
std::vector<double> rows_by_sample(const MicroBatch& batch, std::size_t samples) {
  const std::size_t width = batch.embeddings.size() / batch.rollouts.size();
  std::vector<double> all(samples * width, 0.0);
  for (std::size_t i = 0; i < batch.rollouts.size(); ++i) {
    const auto row = batch.embeddings.begin() + static_cast<std::ptrdiff_t>(i * width);
    std::copy_n(row, width, all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(batch.rollouts[i].sample) * width));
  }
  return all;
}

double or_nan(std::optional<double> value) { return value.value_or(std::numeric_limits<double>::quiet_NaN()); }

}  // namespace

// A group's handler sees all of its rollouts, those that are not trained on without an advantage; what it sets for
// those is ignored.
Result<Shaped> LiveEngine::shape_group(const MicroBatch& batch) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  const Event event(*this);
  const Stopwatch watch(spent_seconds_);
  Shaped shaped{batch.advantages, {}, {}};
  if (!points_.has(Point::Shape, Subject::Group) || batch.rollouts.empty()) return shaped;
  if (!in_iteration_) return too_late();
  if (batch.advantages.size() != batch.rollouts.size()) return malformed("one advantage a rollout is needed");
  LiveGroup* group = groups_.find(batch.rollouts.front().group);
  if (group == nullptr && (group = stored_.find(batch.rollouts.front().group)) != nullptr) {
    // It is replayed: its own version went when it ended, and the batch's asks for it at `replay`, too.
    group->version = version_;
    group->kept.cover(version_->plan, group->log);
  }
  if (group == nullptr) return malformed("the group is not of this iteration");
  if (!group->version) return shaped;
  const std::vector<int> handlers = group->version->points.chain(Point::Shape, Subject::Group);
  std::vector<double> by_sample(group->log.rollouts.size(), or_nan(std::nullopt));
  std::vector<std::size_t> places;
  std::vector<std::optional<double>> rewards;
  for (std::size_t i = 0; i < batch.rollouts.size(); ++i) {
    const auto sample = static_cast<std::size_t>(batch.rollouts[i].sample);
    if (batch.rollouts[i].group != group->log.group || sample >= by_sample.size()) return malformed("a rollout of another group");
    by_sample[sample] = batch.advantages[i];
    places.push_back(sample);
    rewards.push_back(group->log.rollouts[sample].reward);
  }
  if (batch.embeddings.size() % batch.rollouts.size() != 0) return malformed("one embedding a rollout is needed");
  if (!handlers.empty()) audit_.shape_group(batch);  // what is refused is no event of the run
  if (!batch.embeddings.empty()) group->embeddings = rows_by_sample(batch, by_sample.size());
  for (const int handler : handlers) {
    for (std::size_t i = 0; i < places.size(); ++i) by_sample[places[i]] = shaped.advantages[i];
    group->advantages = by_sample;
    auto verdict = consult(handler, *group, current_turn(group->log));
    if (verdict && verdict->by_turn) {
      apply_turns(shaped, *verdict, group->log, places);
      verdict->advantages.reset();
    }
    if (verdict) apply(shaped, *verdict, places, rewards);
    if (fatal_) return *fatal_;
  }
  return shaped;
}

Result<Shaped> LiveEngine::shape(const MicroBatch& batch) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  const Event event(*this);
  const Stopwatch watch(spent_seconds_);
  Shaped shaped{batch.advantages, {}, {}};
  const std::vector<int> handlers = judge_ ? points_.chain(Point::Shape, Subject::MicroBatch) : std::vector<int>();
  if (handlers.empty() || batch.rollouts.empty()) return shaped;
  if (!in_iteration_) return too_late();
  const std::size_t count = batch.rollouts.size();
  if (batch.advantages.size() != count) return malformed("one advantage a rollout is needed");
  if (!batch.gram.empty() && batch.gram.size() != count * count) return malformed("the Gram matrix is square, a row a rollout");
  MicroFacts micro;
  BatchFacts prompts;
  std::vector<int> groups;
  std::vector<std::optional<double>> rewards;
  for (std::size_t i = 0; i < batch.rollouts.size(); ++i) {
    const RolloutRef& ref = batch.rollouts[i];
    LiveGroup* const group = stored_or_live(ref.group);
    if (group == nullptr || ref.sample < 0 || static_cast<std::size_t>(ref.sample) >= group->log.rollouts.size()) {
      return malformed("a rollout that nobody knows");
    }
    group->kept.cover(version_->plan, group->log);
    MicroFacts::Member member{group->facts(current_turn(group->log)), ref.sample, 0, batch.advantages[i]};
    member.group.prompt = prompts.place(group->log.prompt);
    member.group.category = prompts.category_place(group->log.category);
    const auto known = std::find(groups.begin(), groups.end(), ref.group);
    member.index = known - groups.begin();
    if (known == groups.end()) groups.push_back(ref.group);
    micro.members.push_back(member);
    rewards.push_back(group->log.rollouts[static_cast<std::size_t>(ref.sample)].reward);
  }
  audit_.shape(batch);
  micro.gram = &batch.gram;
  std::vector<std::size_t> places(batch.rollouts.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (const int handler : handlers) {
    for (std::size_t i = 0; i < micro.members.size(); ++i) micro.members[i].advantage = shaped.advantages[i];
    Decision decision = judge_->ask_micro(handler, micro, prompts, run_facts(), store_);
    audit_.decided(*judge_, decision, iteration_, {}, 0, shadow() ? Carried::Shadow : Carried::Out);
    note_fault(*judge_, decision);
    if (fatal_) return *fatal_;
    if (shadow() || decision.verdict.rule < 0) continue;
    apply(shaped, decision.verdict, places, rewards);
  }
  return shaped;
}

void LiveEngine::apply_turns(Shaped& shaped, const Verdict& verdict, const GroupLog& log,
                             const std::vector<std::size_t>& samples) const {
  std::vector<std::size_t> first;  // of each sample: the place of its first turn
  std::size_t turns = 0;
  for (const RolloutLog& rollout : log.rollouts) {
    first.push_back(turns);
    turns += static_cast<std::size_t>(rollout.turns());
  }
  if (verdict.advantages->size() != turns) return;
  shaped.turns.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t turn = 0; turn < static_cast<std::size_t>(log.rollouts[samples[i]].turns()); ++turn) {
      shaped.turns[i].push_back((*verdict.advantages)[first[samples[i]] + turn].value_or(shaped.advantages[i]));
    }
  }
}

// Where a value is undefined, what was there stays.
void LiveEngine::apply(Shaped& shaped, const Verdict& verdict, const std::vector<std::size_t>& places,
                       const std::vector<std::optional<double>>& rewards) const {
  const auto value = [&](const std::vector<std::optional<double>>& values, std::size_t i) -> std::optional<double> {
    if (values.size() == 1 && places.size() > 1) return values.front();
    return places[i] < values.size() ? values[places[i]] : std::nullopt;
  };
  for (std::size_t i = 0; verdict.advantages && i < places.size(); ++i) {
    shaped.advantages[i] = value(*verdict.advantages, i).value_or(shaped.advantages[i]);
  }
  if (verdict.weights) {
    shaped.weights.assign(places.size(), 1.0);
    for (std::size_t i = 0; i < places.size(); ++i) shaped.weights[i] = value(*verdict.weights, i).value_or(1.0);
  }
  // With a baseline alone the advantage is the reward less that.
  for (std::size_t i = 0; verdict.baselines && !verdict.advantages && i < places.size(); ++i) {
    const std::optional<double> baseline = value(*verdict.baselines, i);
    if (baseline && rewards[i]) shaped.advantages[i] = *rewards[i] - *baseline;
  }
}

LiveGroup* LiveEngine::stored_or_live(int group) const {
  LiveGroup* const live = groups_.find(group);
  return live != nullptr ? live : stored_.find(group);
}

// When slots stay empty and the buffer holds anything. What is too old by the answer's own `max_age` is never taken.
void LiveEngine::ask_replay() {
  const int handler = judge_ ? points_.find(Point::Replay, Subject::Batch) : no_handler;
  if (handler == no_handler || batch_.full() || stored_.empty()) return;
  BatchFacts facts;
  std::vector<const LiveGroup*> groups;
  for (const auto& [number, group] : stored_) {
    group->kept.cover(version_->plan, group->log);
    GroupFacts of_group = group->facts(current_turn(group->log));
    of_group.prompt = facts.place(group->log.prompt);
    of_group.category = facts.category_place(group->log.category);
    facts.stored.push_back(of_group);
    groups.push_back(group.get());
  }
  describe(facts);
  const Decision decision = consult_batch(handler, facts);
  const Verdict& verdict = decision.verdict;
  if (shadow() || verdict.rule < 0) return;
  const std::int64_t limit = verdict.age_limit.value_or(0);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (iteration_ - groups[i]->log.iteration <= limit) order.push_back(i);
  }
  const auto score = [&](std::size_t i) { return i < verdict.scores.size() ? verdict.scores[i] : std::nullopt; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (score(a).has_value() != score(b).has_value()) return score(a).has_value();
    return score(a) && *score(a) < *score(b);
  });
  const std::int64_t most = std::clamp<std::int64_t>(verdict.amount(), 0, batch_.missing());
  if (static_cast<std::int64_t>(order.size()) > most) order.resize(static_cast<std::size_t>(most));
  for (const std::size_t i : order) replayed_.push_back(groups[i]->log.group);
}

// At the barrier: what was chosen is not trained on where the update is skipped.
void LiveEngine::note_replayed(const IterationReport& report) {
  tallies_.replayed = static_cast<std::int64_t>(report.replayed.size());
  for (const int number : report.replayed) {
    audit_.replayed(iteration_, number, iteration_ - stored_.find(number)->log.iteration);
  }
}

// At the barrier: groups that were trained on enter the buffer, those that have grown too old leave it. What the host
// gave for the shaping of one is its own as long as the iteration lasts.
void LiveEngine::keep_for_replay(const IterationReport& report) {
  stored_.remove_if([&](const LiveGroup& group) { return iteration_ - group.log.iteration >= replay_age_; });
  for (const int number : replay_age_ > 0 ? report.trained : std::vector<int>()) {
    stored_.add(number, std::make_unique<LiveGroup>(*groups_.find(number)));
  }
  for (const auto& [number, group] : stored_) {
    group->version.reset();
    group->advantages.clear();
    group->embeddings.clear();
  }
}

}  // namespace allot::engine
