// Somebody who knows how households work but not where things lie in this one.
#pragma once

#include "runtime/worlds/household/action.h"
#include "runtime/worlds/household/house.h"

namespace allot::worlds::household {

// The next action from any state of an unsolved house, by what has been seen so far: search from room to room, fetch,
// treat, deliver. Always the same in the same state, as a language model at a low temperature nearly is: demonstrations
// that took a random order would teach the learner to wander. Reads no receptacle one has not seen.
Action expert(const House& house);

}  // namespace allot::worlds::household
