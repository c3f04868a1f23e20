#include "runtime/training/run/tally.h"

#include <algorithm>

#include "runtime/math/sum.h"

namespace allot::training {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

}  // namespace

double GateTally::precision_stoppable() const { return ratio(flat_stops, stops); }
double GateTally::precision_all() const { return ratio(flat_stops + flat_late, stops + late); }
double GateTally::recall() const { return ratio(flat_stops + flat_late, flat); }

double ArmTally::success() const { return ratio(math::sum(held_out), static_cast<double>(held_out.size())); }
double ArmTally::flat_share() const { return ratio(gate.flat, gate.groups); }

void ArmTally::add(const Collected& collected) {
  rollout_seconds += collected.seconds;
  seconds += collected.seconds;
  rollouts += static_cast<std::int64_t>(collected.rollouts.size());
  for (const auto& rollout : collected.rollouts) {
    turns += static_cast<std::int64_t>(rollout.turns.size());
    tokens += rollout.generated;
    errors += rollout.status == engine::Status::Error ? 1 : 0;
  }
}

Outcome outcome(const std::vector<Rollout>& rollouts, int group) {
  int scored = 0;
  double low = 0;
  double high = 0;
  for (const auto& rollout : rollouts) {
    if (rollout.ref.group != group || !rollout.reward) continue;
    low = scored == 0 ? *rollout.reward : std::min(low, *rollout.reward);
    high = scored == 0 ? *rollout.reward : std::max(high, *rollout.reward);
    ++scored;
  }
  if (scored < 2) return {};
  return {true, high - low <= 0, high - low <= 0 && high > 0};
}

void add_outcome(ArmTally& tally, const engine::GroupResult& group, const Outcome& outcome) {
  auto& gate = tally.gate;
  const bool stop = group.gate.carried_out;
  const bool late = group.gate.stop && group.gate.late;
  if (stop && !group.reason.empty()) {
    // Rules are counted by their words without the numbers that fill them.
    ++gate.reasons[group.reason.substr(0, group.reason.find(':'))];
  }
  if (!outcome.known) return;
  ++gate.groups;
  gate.flat += outcome.flat;
  gate.stops += stop;
  gate.flat_stops += stop && outcome.flat;
  gate.late += late;
  gate.flat_late += late && outcome.flat;
  tally.all_succeed += outcome.success;
  tally.all_fail += outcome.flat && !outcome.success;
}

}  // namespace allot::training
