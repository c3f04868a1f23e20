#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/training/run/report.h"

using namespace allot::training;

namespace {

ArmTally arm(const std::string& name, double seconds, std::int64_t tokens, std::vector<double> held_out) {
  ArmTally tally;
  tally.name = name;
  tally.seconds = seconds;
  tally.tokens = tokens;
  tally.held_out = std::move(held_out);
  tally.gate.groups = 10;
  tally.gate.flat = 4;
  tally.engine_seconds = seconds / 1000;
  return tally;
}

}  // namespace

TEST_CASE("the report compares each arm with the first") {
  const std::vector<SeedResult> seeds = {{7, {arm("none", 100, 1000, {1, 0, 0, 1}), arm("policy", 80, 750, {1, 1, 0, 1})}}};
  const ReportContext context{"household", "ab", "gate", 5, false};
  const auto json = report_json(seeds, context);
  CHECK(json["arms"]["policy"]["time_saved"]["mean"].get<double>() == Approx(0.2));
  CHECK(json["arms"]["policy"]["tokens_saved"]["mean"].get<double>() == Approx(0.25));
  CHECK(json["arms"]["policy"]["success_difference"]["mean"].get<double>() == Approx(0.25));
  CHECK(json["arms"]["none"]["success"].get<double>() == 0.5);
  CHECK(json["arms"]["none"]["flat_share"].get<double>() == Approx(0.4));
  CHECK(json["engine_share"].get<double>() == Approx(0.001));
  CHECK(json["seed"] == 7);
  for (const char* key : {"stops", "precision_all", "precision_stoppable", "recall"}) CHECK(json["gate"].contains(key));
  const auto text = report_text(seeds, context);
  CHECK(text.find("20.0 % of the time and 25.0 % of the tokens saved") != std::string::npos);
  CHECK(text.find("gate") != std::string::npos);
}

TEST_CASE("a precision of no stops is undefined, and a seed without stops is in no mean of it") {
  auto silent = arm("policy", 80, 750, {1, 1});
  auto stopping = silent;
  stopping.gate.stops = 4;
  stopping.gate.flat_stops = 3;
  const std::vector<SeedResult> quiet = {{7, {arm("none", 100, 1000, {1, 0}), silent}}};
  const ReportContext context{"household", "ab", "gate", 5, false};
  const auto json = report_json(quiet, context);
  for (const char* key : {"precision_all", "precision_stoppable", "false_stop_share"}) CHECK(json["gate"][key].is_null());
  CHECK(json["gate"]["recall"] == 0.0);  // there were flat groups, and none of them was found
  CHECK(report_text(quiet, context).find("undefined") != std::string::npos);
  const std::vector<SeedResult> both = {{7, {arm("none", 100, 1000, {1, 0}), silent}},
                                        {13, {arm("none", 100, 1000, {1, 0}), stopping}}};
  CHECK(report_text(both, context).find("  75.0\n") != std::string::npos);
}

TEST_CASE("a budget that was used up is told where the figures are") {
  auto tight = arm("policy", 80, 750, {1, 1});
  tight.short_of_budget = 3;
  const std::vector<SeedResult> seeds = {{7, {arm("none", 100, 1000, {1, 0}), tight}}, {13, {arm("none", 100, 1000, {1, 0}), tight}}};
  const ReportContext context{"household", "ab", "gate", 5, false};
  CHECK(report_text(seeds, context).find("policy: in 6 iterations the budget could not cover") != std::string::npos);
  CHECK(report_text(seeds, context).find("none: in") == std::string::npos);
  CHECK(report_json(seeds, context)["arms"]["policy"]["short_of_budget"] == 3.0);
  CHECK(restore_tally(save(tight)).short_of_budget == 3);
}

TEST_CASE("a run that its budget ended says so, seed by seed") {
  const std::vector<ArmTally> arms = {arm("none", 100, 1000, {1, 0}), arm("policy", 80, 750, {1, 1})};
  const ReportContext context{"household", "ab", "gate", 20, false};
  const std::string line = "the budget of the run is used up: 40 of 40 rollouts; 7 of 20 iterations were played\n";
  const SeedResult ended{7, arms, "40 of 40 rollouts", 7}, whole{13, arms, "", 20};
  CHECK(report_text({ended}, context).find("\n" + line) != std::string::npos);
  CHECK(report_text({ended, whole}, context).find("\nseed 7: " + line) != std::string::npos);
  CHECK(report_text({whole}, context).find("used up") == std::string::npos);
  CHECK(report_json({ended, whole}, context)["budget_used_up"] ==
        nlohmann::json::array({{{"seed", 7}, {"budget", "40 of 40 rollouts"}, {"iterations", 7}}}));
  CHECK(report_json({whole}, context)["budget_used_up"].empty());
}

TEST_CASE("a run that did nothing says so") {
  CHECK(report_text({}, {}) == "nothing was run\n");
  CHECK(report_json({}, {})["arms"].empty());
}
