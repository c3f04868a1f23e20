// Supervised warm-up: the model imitates the world's own demonstrations on training tasks before it is rewarded.
#pragma once

#include <vector>

#include "common/result.h"
#include "runtime/training/run/options.h"
#include "runtime/training/tokenizer.h"
#include "runtime/training/update.h"
#include "runtime/worlds/world.h"

namespace allot::training {

// Demonstrations of the first `count` training tasks (fewer where there are fewer), in the very form of a rollout.
// A world without demonstrations gives none. A task whose demonstration fails is left out.
Result<std::vector<TrainSequence>> demonstrations(worlds::World& world, const Tokenizer& tokenizer, int count,
                                                  int turn_limit, int max_tokens);

// `steps` of mini-batches drawn by counters from `seed`, the learning rate falling linearly to a tenth. Returns the
// mean loss of the last ten steps, nats per token.
Result<double> warm_up(Trainer& trainer, const std::vector<TrainSequence>& demonstrations, const RunOptions& options,
                       std::uint64_t seed, bool quiet);

}  // namespace allot::training
