// What a policy can look at, as cells: one case per fact of lang/facts.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/group_log.h"
#include "runtime/engine/kept_statistics.h"
#include "runtime/engine/ledger.h"

namespace allot::engine {

// What is the same for every question of one iteration.
struct RunFacts {
  const lang::Program* program = nullptr;
  const std::vector<lang::Cell>* parameters = nullptr;
  const Ledger* ledger = nullptr;  // may be null: no budget
  std::uint64_t seed = 0;
  int slots = 0;
  int iteration = 0;
};

struct GroupFacts {
  const GroupLog* log = nullptr;
  const KeptStatistics* kept = nullptr;
  int turn = 0;                  // N at `turn N`; else see current_turn()
  std::int64_t prompt = 0;       // position of its prompt among the distinct prompts of the question
};

// Turns executed by every live rollout; where none is live, the most that any of them executed.
int current_turn(const GroupLog& log);

// The group of one handler, its batch, or the run; undefined where the fact has no value.
lang::Cell group_fact(const lang::ReadKey& key, const GroupFacts& group, const RunFacts& run);
lang::Cell rollout_fact(const lang::ReadKey& key, const GroupFacts& group, int sample, const RunFacts& run);
lang::Cell batch_fact(const lang::ReadKey& key, int size, const RunFacts& run);

}  // namespace allot::engine
