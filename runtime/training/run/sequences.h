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

}  // namespace allot::training
