// The table at the end of a run: what the policy saved, how good its gate was, and what it cost in held-out success.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/training/run/tally.h"

namespace allot::training {

struct SeedResult {
  std::uint64_t seed = 0;
  std::vector<ArmTally> arms;  // the same arms in every seed; the first is the one that others are compared with
  std::string used_up = {};    // the budget that ended it early, "40 of 40 rollouts"; else empty
  int iterations = 0;          // … after so many
};

struct ReportContext {
  std::string world;
  std::string tasks_sha256;
  std::string policy;       // name of the policy in the arm `policy`; empty without that arm
  int iterations = 0;
  bool interrupted = false;
};

// For people. One seed: plain figures. Several: means with 95 % bootstrap intervals over seeds.
std::string report_text(const std::vector<SeedResult>& seeds, const ReportContext& context);

// One JSON object: arms.<name>.{seconds, rollouts, turns, tokens, success, flat_share, …} summed or averaged over the
// seeds, gate.{stops, precision_all, precision_stoppable, recall}, engine_share, seed, tasks_sha256; budget_used_up: the
// seeds that ended early, with budget and iterations.
nlohmann::json report_json(const std::vector<SeedResult>& seeds, const ReportContext& context);

}  // namespace allot::training
