#include "runtime/training/run/tally.h"

#include <nlohmann/json.hpp>

#include "runtime/math/sum.h"
#include "runtime/training/advantage.h"

namespace allot::training {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

// A share of nothing is no number, and least of all 0.
std::optional<double> share(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

}  // namespace

std::optional<double> GateTally::precision_stoppable() const { return share(flat_stops, stops); }
std::optional<double> GateTally::precision_all() const { return share(flat_stops + flat_late, stops + late); }
std::optional<double> GateTally::recall() const { return share(flat_stops + flat_late, flat); }

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
  std::vector<Reward> rewards;
  for (const auto& rollout : rollouts)
    if (rollout.ref.group == group && scored(rollout.reward)) rewards.push_back(rollout.reward);
  if (rewards.size() < 2) return {};
  const bool is_flat = flat(rewards);
  return {true, is_flat, is_flat && *rewards.front() > 0};
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

nlohmann::json save(const ArmTally& t) {
  const auto& g = t.gate;
  return {{"name", t.name},
          {"seconds", t.seconds},
          {"rollout_seconds", t.rollout_seconds},
          {"engine_seconds", t.engine_seconds},
          {"rollouts", t.rollouts},
          {"turns", t.turns},
          {"tokens", t.tokens},
          {"updates", t.updates},
          {"skipped", t.skipped},
          {"short_of_budget", t.short_of_budget},
          {"errors", t.errors},
          {"all_fail", t.all_fail},
          {"all_succeed", t.all_succeed},
          {"gate",
           {{"groups", g.groups},
            {"flat", g.flat},
            {"stops", g.stops},
            {"flat_stops", g.flat_stops},
            {"late", g.late},
            {"flat_late", g.flat_late},
            {"reasons", g.reasons}}}};
}

ArmTally restore_tally(const nlohmann::json& saved) {
  ArmTally t;
  t.name = saved.at("name");
  t.seconds = saved.at("seconds");
  t.rollout_seconds = saved.at("rollout_seconds");
  t.engine_seconds = saved.at("engine_seconds");
  t.rollouts = saved.at("rollouts");
  t.turns = saved.at("turns");
  t.tokens = saved.at("tokens");
  t.updates = saved.at("updates");
  t.skipped = saved.at("skipped");
  t.short_of_budget = saved.value("short_of_budget", std::int64_t{0});
  t.errors = saved.at("errors");
  t.all_fail = saved.at("all_fail");
  t.all_succeed = saved.at("all_succeed");
  const auto& gate = saved.at("gate");
  t.gate.groups = gate.at("groups");
  t.gate.flat = gate.at("flat");
  t.gate.stops = gate.at("stops");
  t.gate.flat_stops = gate.at("flat_stops");
  t.gate.late = gate.at("late");
  t.gate.flat_late = gate.at("flat_late");
  t.gate.reasons = gate.at("reasons").get<std::map<std::string, int>>();
  return t;
}

}  // namespace allot::training
