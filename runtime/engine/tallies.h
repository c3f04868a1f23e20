// What happened, counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace allot::engine {

struct Tallies {
  std::int64_t rollouts = 0, completed = 0, truncated = 0, stopped = 0, aborted = 0, timeouts = 0, errors = 0;
  std::int64_t unscored = 0, nonfinite = 0;
  std::int64_t turns = 0, tokens = 0, calls = 0, waves = 0;
  std::int64_t late = 0, duplicate = 0, unknown = 0;      // events that came too late, twice, or for nobody
  std::int64_t clamped = 0;        // verdicts that asked for more rollouts than the group may have
  std::int64_t left_out = 0;       // members of a subset that cannot be trained on
  std::int64_t starts_cut = 0;     // rollouts that were to start and did not, for the budget could not cover them
  std::int64_t budget_stops = 0;   // rollouts ended because it could not cover their next turn
  std::int64_t late_questions = 0; // asked of a group that had already ended; they change nothing
  std::int64_t held_out = 0;
  std::int64_t deferred = 0, resumed = 0, expired = 0, surplus = 0;  // groups
  std::int64_t evicted = 0, readmitted = 0;                          // prompts
  std::int64_t loss_tokens = 0, loss_faults = 0;                     // that `on loss of token` was asked of
  std::int64_t replayed = 0;                                         // groups
  std::int64_t points_without_handler = 0;  // `result`, `wave` and `finish` that came and nobody answered
};

// What is counted while other groups' events run beside this one: each group has its own, and the iteration gathers
// them when it needs them.
struct OwnTallies {
  std::int64_t turns = 0, tokens = 0, calls = 0;
  std::int64_t completed = 0, truncated = 0, unscored = 0, nonfinite = 0, points_without_handler = 0;
  std::int64_t scored = 0, hits = 0;      // by the hit condition
  std::optional<double> most_reward;      // of what it reads
  std::string hit_fault;                  // the first time that the condition faulted, in words; empty without
  double seconds = 0;                     // in policy and engine
};

struct RunTallies {
  std::int64_t scored = 0;
  std::int64_t hits = 0;
  std::optional<double> most_reward;  // of what the hit condition reads
  bool warned_without_hits = false;
  bool asked = false;                 // a decision was made in time, in some iteration
  bool first_iteration_over = false;
  bool told_native_note = false;
  bool told_shaped_gate = false;
  bool told_no_epochs = false;
  std::int64_t skipped_updates = 0;
};

}  // namespace allot::engine
