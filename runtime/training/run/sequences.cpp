#include "runtime/training/run/sequences.h"

#include <algorithm>
#include <map>

#include "runtime/math/sum.h"

namespace allot::training {
namespace {

struct Member {
  const Rollout* rollout;
  bool in_subset;
};

std::vector<Member> members(const Collected& collected, const engine::GroupResult& group) {
  std::vector<Member> found;
  for (const auto& rollout : collected.rollouts) {
    if (rollout.ref.group != group.group) continue;
    const bool chosen = std::find(group.subset.begin(), group.subset.end(), rollout.ref.sample) != group.subset.end();
    if (chosen || group.normalize == engine::NormalizeOver::Group) found.push_back({&rollout, chosen});
  }
  return found;
}

// The reward that is trained on: the policy's, where it sets one.
std::optional<double> reward_of(const Rollout& rollout, const engine::GroupResult& group) {
  const auto sample = static_cast<std::size_t>(rollout.ref.sample);
  return sample < group.rewards.size() ? group.rewards[sample] : rollout.reward;
}

TrainSequence sequence(const Rollout& rollout, double advantage) {
  return {rollout.tokens, rollout.trained, rollout.logprobs, advantage};
}

std::vector<int> turn_tokens(const Rollout& rollout) {
  std::vector<int> counts;
  for (const RolloutTurn& turn : rollout.turns) counts.push_back(turn.tokens);
  return counts;
}

engine::MicroBatch part_of(const TrainingBatch& batch, const std::vector<std::size_t>& members) {
  engine::MicroBatch part;
  for (const std::size_t i : members) {
    part.rollouts.push_back(batch.rollouts[i]);
    part.advantages.push_back(batch.sequences[i].advantage);
  }
  return part;
}

void take_over(TrainingBatch& batch, const std::vector<std::size_t>& members, const engine::Shaped& shaped) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    TrainSequence& sequence = batch.sequences[members[i]];
    const double moved = shaped.advantages[i] - sequence.advantage;
    for (double& advantage : sequence.turn_advantages) advantage += moved;
    sequence.advantage = shaped.advantages[i];
    if (i < shaped.turns.size() && !shaped.turns[i].empty()) {
      advantages_by_turn(sequence, batch.turn_tokens[members[i]], shaped.turns[i]);
    }
    if (!shaped.weights.empty()) batch.sequences[members[i]].weight *= shaped.weights[i];
  }
}

}  // namespace

std::vector<TrainSequence> sequences(const Collected& collected, const std::vector<int>& trained_groups,
                                     const AdvantageOptions& options) {
  return training_batch(collected, trained_groups, options).sequences;
}

TrainingBatch training_batch(const Collected& collected, const std::vector<int>& trained_groups,
                             const AdvantageOptions& options) {
  std::map<int, const engine::GroupResult*> results;
  for (const auto& group : collected.groups) results[group.group] = &group;
  std::vector<std::vector<Member>> groups;
  std::vector<std::vector<Reward>> rewards;
  GroupValues lengths;
  for (const int id : trained_groups) {
    const auto found = results.find(id);
    if (found == results.end()) continue;
    groups.push_back(members(collected, *found->second));
    auto& of_group = rewards.emplace_back();
    auto& tokens = lengths.emplace_back();
    for (const auto& member : groups.back()) {
      of_group.push_back(reward_of(*member.rollout, *found->second));
      tokens.push_back(member.rollout->generated);
    }
  }
  const auto values = advantages(options, rewards, lengths);
  TrainingBatch batch;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t i = 0; i < groups[g].size(); ++i)
      if (groups[g][i].in_subset && scored(rewards[g][i])) {
        batch.sequences.push_back(sequence(*groups[g][i].rollout, values[g][i]));
        batch.rollouts.push_back(groups[g][i].rollout->ref);
        batch.turn_tokens.push_back(turn_tokens(*groups[g][i].rollout));
      }
  return batch;
}

std::function<GivenLoss(const LossTokens&)> loss_of(std::shared_ptr<const engine::TokenLoss> policy) {
  return [policy = std::move(policy)](const LossTokens& tokens) {
    engine::TokenLosses losses = policy->ask({tokens.logp, tokens.old_logp, tokens.reference, tokens.advantages});
    return GivenLoss{std::move(losses.loss), std::move(losses.slope), std::move(losses.own)};
  };
}

void advantages_by_turn(TrainSequence& sequence, const std::vector<int>& counts, const std::vector<double>& turns) {
  sequence.turn_advantages.assign(sequence.tokens.size(), 0.0);
  std::size_t turn = 0;
  int left = counts.empty() ? 0 : counts.front();
  std::vector<double> trained;
  for (std::size_t t = 0; t < sequence.tokens.size(); ++t) {
    if (!sequence.trained[t]) continue;
    while (left <= 0 && turn + 1 < turns.size()) left = counts[++turn];
    --left;
    sequence.turn_advantages[t] = turns[turn];
    trained.push_back(turns[turn]);
  }
  sequence.advantage = math::mean(trained).value_or(0);
}

Result<void> shape(TrainingBatch& batch, engine::Engine& engine, const Trainer& trainer, const UpdateOptions& options) {
  if (engine.shapes_groups()) {
    std::map<int, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < batch.rollouts.size(); ++i) groups[batch.rollouts[i].group].push_back(i);
    for (const auto& [group, members] : groups) {
      auto part = part_of(batch, members);
      if (engine.wants_embeddings()) part.embeddings = trainer.embeddings(batch.sequences, members);
      auto shaped = engine.shape_group(part);
      if (!shaped) return shaped.error();
      take_over(batch, members, *shaped);
    }
  }
  if (!engine.shapes_micro_batches()) return {};
  for (const auto& members : trainer.micro_batches(batch.sequences, options.micro_tokens)) {
    auto part = part_of(batch, members);
    if (engine.wants_gram()) part.gram = trainer.gram(batch.sequences, members, options.temperature);
    auto shaped = engine.shape(part);
    if (!shaped) return shaped.error();
    take_over(batch, members, *shaped);
  }
  return {};
}

}  // namespace allot::training
