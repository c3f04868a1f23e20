// What a policy can look at, as cells: one case per fact of lang/facts.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/group_log.h"
#include "runtime/engine/kept_statistics.h"
#include "runtime/engine/ledger.h"
#include "runtime/engine/pool.h"

namespace allot::engine {

// What is the same for every question of one iteration.
struct RunFacts {
  const lang::Program* program = nullptr;
  const std::vector<lang::Cell>* parameters = nullptr;
  const Ledger* ledger = nullptr;  // may be null: no budget
  std::uint64_t seed = 0;
  int slots = 0;
  int iteration = 0;
  int epoch = 0;
  std::int64_t pool_size = 0;      // prompts that may be drawn now
  std::int64_t pool_known = 0;
  std::int64_t pool_evicted = 0;
  std::int64_t pool_due = 0;       // deferred groups
  int empty_slots = 0;
};

// One prompt of the pool or of a batch, with what is known of it.
struct PromptFacts {
  const std::string* key = nullptr;
  const PromptHistory* history = nullptr;
  const PoolPrompt* described = nullptr;  // by the host; may be null
  std::int64_t position = 0;              // among the distinct prompts of the question
  std::int64_t category = 0;              // among its distinct categories
  bool evicted = false;
  bool deferred = false;
};

struct GroupFacts {
  const GroupLog* log = nullptr;
  const KeptStatistics* kept = nullptr;
  int turn = 0;                  // N at `turn N`; else see current_turn()
  std::int64_t prompt = 0;       // position of its prompt among the distinct prompts of the question
  std::int64_t category = 0;     // of that prompt, among its distinct categories
  const std::vector<double>* advantages = nullptr;    // at `shape`: by sample, NaN where not trained on
  const std::vector<double>* embeddings = nullptr;    // at `shape`: a row each sample, zeros where there is none
};

// The rollouts of one forward and backward pass.
struct MicroFacts {
  struct Member {
    GroupFacts group;
    int sample = 0;
    std::int64_t index = 0;      // of its group within the micro-batch
    double advantage = 0;
  };
  std::vector<Member> members;
  const std::vector<double>* gram = nullptr;  // row-major; empty where nobody reads it
};

// Turns executed by every live rollout; where none is live, the most that any of them executed.
int current_turn(const GroupLog& log);

// The group of one handler, its batch, or the run; undefined where the fact has no value.
lang::Cell group_fact(const lang::ReadKey& key, const GroupFacts& group, const RunFacts& run);
lang::Cell rollout_fact(const lang::ReadKey& key, const GroupFacts& group, int sample, const RunFacts& run);
// A fact of all turns of a group, by sample and then from the first.
std::vector<lang::Cell> turns_column(const lang::ReadKey& key, const GroupLog& log);
// One turn of a rollout, from 0.
lang::Cell turn_fact(const lang::ReadKey& key, const RolloutLog& rollout, std::size_t turn);
lang::Cell prompt_fact(const lang::ReadKey& key, const PromptFacts& prompt, const RunFacts& run);
lang::Cell member_fact(const lang::ReadKey& key, const MicroFacts::Member& member, const RunFacts& run);
lang::Cell batch_fact(const lang::ReadKey& key, int size, const RunFacts& run);

}  // namespace allot::engine
