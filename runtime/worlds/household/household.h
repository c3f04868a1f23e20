// The built-in world: a house in which things are searched, treated and put where they belong.
//
// Six kinds of task, those of the benchmarks for household agents: put, examine under a lamp, clean / heat / cool and
// then put, put two. Text in, text out; every word is in vocabulary(). Generation is seeded and counter-based.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/worlds/household/difficulty.h"
#include "runtime/worlds/world.h"

namespace allot::worlds::household {

struct Options {
  std::uint64_t seed = 20260101;
  int training_tasks = 4800;  // the six kinds in turn
  int held_out_tasks = 480;   // drawn first: the same set whatever the number of training tasks
  int turn_limit = 30;
  Difficulty difficulty{};
};

// The two splits share no task, by fingerprint (task_maker.h), and no task is in a split twice. Any number of sessions
// can be open at once. Errors: options out of range, or more tasks asked for than the difficulty has room for.
Result<std::unique_ptr<World>> make_household(const Options& options = {});

}  // namespace allot::worlds::household
