// A group of this iteration: its log, what is kept of it, and the verdict that travels with it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/events.h"
#include "runtime/engine/facts.h"
#include "runtime/engine/group_log.h"
#include "runtime/engine/kept_statistics.h"
#include "runtime/engine/state.h"
#include "runtime/engine/tallies.h"

namespace allot::engine {

struct Version;

// For events of one group beside those of others. A copy of a group has one of its own.
struct OwnLock {
  OwnLock() = default;
  OwnLock(const OwnLock&) {}
  OwnLock& operator=(const OwnLock&) { return *this; }
  std::mutex mutex;
};

struct LiveGroup {
  OwnLock own;          // held with the engine's lock shared; who has that alone needs it not
  OwnTallies counted;   // since they were gathered
  std::shared_ptr<Version> version;  // that it was opened under, or taken up; null without a policy and once it has ended
  GroupLog log;
  KeptStatistics kept;
  StateCells state;  // cells of `per group` states, by index into Program::states

  // ---- points
  int turn_passed = 0;                  // `turn` points up to here are behind the group
  std::vector<int> turn_handlers_fired; // handlers of `turn N` that were asked in time: each comes once a group

  // ---- the verdict so far; a later point replaces a field, but a drop stays
  std::optional<std::int64_t> defer_limit;  // iterations it may wait; set by the first `defer`
  bool to_defer = false;                // the verdict says defer; carried out when its wave is over
  lang::PromptField prompt_field = lang::PromptField::Default;
  std::int64_t until = 0;               // of `evict until`, an epoch
  bool ended_by_verdict = false;        // stop or drop: nothing more is started
  bool stopped = false;                 // a stop was carried out
  bool dropped = false;
  lang::SlotField slot = lang::SlotField::Default;
  std::optional<std::vector<int>> subset;
  lang::Normalize normalize = lang::Normalize::Default;
  std::string reason;
  std::string where;                    // "file:line"
  bool said_train = false;              // by the rule that stands there

  bool held_out = false;                // a stop was said but, for the sake of measuring, not carried out
  bool cut_by_budget = false;
  int short_of = 0;                     // rollouts that it was to have in this iteration and the budget does not cover
  bool closed = false;
  bool deferred = false;                // waits, its rollouts ended
  bool waits = false;                   // its wave is over; `wave of batch` comes when the others' are
  bool active = true;                   // opened or resumed in this iteration
  bool placed = true;                   // has a place of the batch
  Fate fate = Fate::Cancelled;
  bool flat = false;
  std::vector<int> trained;             // samples, ascending
  GateNote gate;

  std::vector<double> advantages;       // at `shape`: by sample, NaN where not trained on
  std::vector<double> embeddings;       // at `shape`: a row each sample; empty where nobody reads them

  bool running() const { return !closed && !deferred && !waits; }
  GroupFacts facts(int turn) const {
    return {&log, &kept, turn, 0, 0, advantages.empty() ? nullptr : &advantages, embeddings.empty() ? nullptr : &embeddings};
  }
};

}  // namespace allot::engine
