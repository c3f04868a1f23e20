// Somebody who knows how households work but not where things lie in this one.
#pragma once

#include "runtime/worlds/household/action.h"
#include "runtime/worlds/household/house.h"

namespace allot::worlds::household {

// The next action from any state of an unsolved house, by what has been seen so far: search where people keep such
// things (order drawn once per task by the habit weights), fetch, treat, deliver. Reads no receptacle one has not seen.
Action expert(const House& house);

}  // namespace allot::worlds::household
