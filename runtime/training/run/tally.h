// What one arm of a run cost and gave, and how good its gate was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/events.h"
#include "runtime/training/run/rollout.h"

namespace allot::training {

// The gate against the outcomes. The outcome of a stopped group is learnt off the clock: its rollouts are run to the
// end with the same weights and the same draws. A *late* stop comes when nobody is alive any more and saves nothing.
struct GateTally {
  int groups = 0;              // with a known outcome
  int flat = 0;                // of those, flat
  int stops = 0;               // carried out
  int flat_stops = 0;          // of those, flat
  int late = 0;
  int flat_late = 0;
  std::map<std::string, int> reasons;

  // Shares of what may be nothing: undefined then.
  std::optional<double> precision_stoppable() const;  // flat ones of the stops that could still save something
  std::optional<double> precision_all() const;        // late ones included
  std::optional<double> recall() const;               // flat groups stopped or found late, over flat groups
  int false_stops() const { return stops - flat_stops; }
};

struct ArmTally {
  std::string name;
  double seconds = 0;          // rolling out and updating; warm-up, evaluation and off-clock outcomes are left out
  double rollout_seconds = 0;
  double engine_seconds = 0;
  std::int64_t rollouts = 0;
  std::int64_t turns = 0;
  std::int64_t tokens = 0;     // written by the model
  std::int64_t updates = 0;
  std::int64_t skipped = 0;    // iterations without an update
  std::int64_t short_of_budget = 0;  // iterations in which the budget could not cover a rollout or a turn
  std::int64_t errors = 0;
  int all_fail = 0;
  int all_succeed = 0;
  GateTally gate;
  std::vector<double> held_out;  // 0 or 1 per held-out task, in task order
  bool interrupted = false;

  double success() const;      // share of held-out tasks solved
  double flat_share() const;   // flat groups over groups with a known outcome

  void add(const Collected& collected);
};

// A group's scored rewards: flat where there are at least two and max - min is 0.
struct Outcome {
  bool known = false;
  bool flat = false;
  bool success = false;  // flat at a reward above 0
};
Outcome outcome(const std::vector<Rollout>& rollouts, int group);

// Adds the outcome of one group to the tally.
void add_outcome(ArmTally& tally, const engine::GroupResult& group, const Outcome& outcome);

// For the checkpoint of a run.
nlohmann::json save(const ArmTally& tally);
ArmTally restore_tally(const nlohmann::json& saved);

}  // namespace allot::training
