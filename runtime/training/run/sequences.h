// From rollouts and verdicts to what the optimiser sees.
#pragma once

#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/training/batch_advantage.h"
#include "runtime/training/run/rollout.h"
#include "runtime/training/update.h"

namespace allot::training {

// The sequences of the groups that are trained on, with their advantages. A dropped group is in no numerator and no
// denominator. Within a group, advantages are taken over the subset or the whole group, as the verdict says; unscored
// rollouts take no part and are not trained on.
std::vector<TrainSequence> sequences(const Collected& collected, const std::vector<int>& trained_groups,
                                     const AdvantageOptions& options);

// The same with the rollout that each sequence is of.
struct TrainingBatch {
  std::vector<TrainSequence> sequences;
  std::vector<engine::RolloutRef> rollouts;
  std::vector<std::vector<int>> turn_tokens;  // of each rollout: how many tokens the model wrote in each turn
};
TrainingBatch training_batch(const Collected& collected, const std::vector<int>& trained_groups,
                             const AdvantageOptions& options);

// The policy's `on loss of token`, as an update asks for it.
std::function<GivenLoss(const LossTokens&)> loss_of(std::shared_ptr<const engine::TokenLoss> policy);

// Gives every trained token the advantage of its turn, and the sequence the mean of its tokens. `counts` says how many
// tokens the model wrote in each turn; tokens of a turn that was cut off before it was reported have that of the last.
void advantages_by_turn(TrainSequence& sequence, const std::vector<int>& counts, const std::vector<double>& turns);

// What the policy makes of the advantages: first those of each group, then those of each micro-batch of the update. Where
// a group's are set by turn, all tokens of a turn have its advantage, a micro-batch sees their mean, and what it changes is
// added to all. For a policy that reads them, embeddings and Gram matrix come from the trainer's weights of this moment.
Result<void> shape(TrainingBatch& batch, engine::Engine& engine, const Trainer& trainer, const UpdateOptions& options);

}  // namespace allot::training
