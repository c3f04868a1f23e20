// Everything an engine carries from one iteration to the next, as one self-checking text.
//
// It is taken at barriers only: an engine that is restored takes up with the next iteration, and what was in flight
// when the run ended is run again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/ledger.h"
#include "runtime/engine/live_group.h"
#include "runtime/engine/pool.h"
#include "runtime/engine/state.h"
#include "runtime/engine/swaps.h"
#include "runtime/engine/tallies.h"

namespace allot::engine {

struct Snapshot {
  std::string policy_hash;
  int iteration = -1;      // the last that ended; −1: none
  int next_group = 0;
  StateStore::Keyed prompts;
  StateStore::Keyed categories;
  StateCells run_state;
  std::map<std::string, PromptHistory, std::less<>> histories;
  int epoch = 0;
  std::int64_t passed = 0;
  std::vector<const LiveGroup*> waiting;  // deferred groups
  std::vector<const LiveGroup*> stored;   // of the replay buffer
  std::vector<Account> accounts;
  Conservation conservation;
  bool ledger_begun = false;
  std::int64_t holdout_observed = 0;
  std::int64_t holdout_flat = 0;
  bool paused = false;
  RunTallies run;
  SavedVersions versions;
};

// What is read owns its groups.
struct ReadSnapshot : Snapshot {
  std::vector<std::unique_ptr<LiveGroup>> groups;  // what `waiting` and `stored` point to
};

std::string write(const Snapshot& snapshot);
// An error says that the text is damaged, or of a version this program does not know. Statistics of the groups' actions
// are rebuilt as `plan` says.
Result<ReadSnapshot> read_snapshot(const std::string& text, const StatisticsPlan& plan);

}  // namespace allot::engine
