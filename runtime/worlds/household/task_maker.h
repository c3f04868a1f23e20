// Seeded generation of houses: the same kind, seed and difficulty give the same house everywhere.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/worlds/household/difficulty.h"
#include "runtime/worlds/household/house.h"

namespace allot::worlds::household {

enum class Distance { Near, Far, Scattered };

struct MadeHouse {
  House house;
  Distance distance = Distance::Near;  // the level of difficulty it was drawn from
  int expert_turns = 0;  // what the expert needs from the start
};

MadeHouse make_house(Kind kind, std::uint64_t seed, const Difficulty& difficulty);

// What makes two tasks the same for a learner: goal, receptacles, and where the things asked for lie. Distractors and
// the order of the expert's search are left out, so tasks that differ in them alone count as one.
std::string fingerprint(const House& house);

// The number of turns the expert needs from here; `limit` + 1 where it does not get there within `limit`.
int expert_turns(House house, int limit);

}  // namespace allot::worlds::household
