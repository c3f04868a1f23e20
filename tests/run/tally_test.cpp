#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/training/run/tally.h"

using namespace allot::training;
using allot::engine::GroupResult;

namespace {

Rollout scored(int group, int sample, std::optional<double> reward) {
  Rollout rollout;
  rollout.ref = {group, sample};
  rollout.reward = reward;
  return rollout;
}

GroupResult group(bool stop, bool late) {
  GroupResult result;
  result.gate = {stop || late, stop || late, late, stop && !late};
  result.reason = stop ? "converged: divergence 0.1" : "";
  return result;
}

}  // namespace

TEST_CASE("the outcome of a group is known from two scored rewards on") {
  const std::vector<Rollout> rollouts = {scored(0, 0, 1), scored(0, 1, std::nullopt), scored(1, 0, 1), scored(1, 1, 1),
                                         scored(2, 0, 0), scored(2, 1, 1),            scored(3, 0, 0), scored(3, 1, 0)};
  CHECK_FALSE(outcome(rollouts, 0).known);
  CHECK(outcome(rollouts, 1).flat);
  CHECK(outcome(rollouts, 1).success);
  CHECK(outcome(rollouts, 2).known);
  CHECK_FALSE(outcome(rollouts, 2).flat);
  CHECK(outcome(rollouts, 3).flat);
  CHECK_FALSE(outcome(rollouts, 3).success);
}

TEST_CASE("precision counts late stops apart from those that could save something") {
  // The authors' own split at K = 10 and 0.12: 21 stopped with 17 flat, of which 17 stoppable with 13 flat; 39 of 100
  // groups flat. Precision 17/21 and 13/17, recall 17/39.
  ArmTally tally;
  const auto add = [&](int count, bool stop, bool late, bool flat) {
    for (int i = 0; i < count; ++i) add_outcome(tally, group(stop, late), {true, flat, false});
  };
  add(13, true, false, true);
  add(4, true, false, false);
  add(4, false, true, true);
  add(22, false, false, true);
  add(57, false, false, false);
  CHECK(tally.gate.groups == 100);
  CHECK(*tally.gate.precision_all() == Approx(17.0 / 21));
  CHECK(*tally.gate.precision_stoppable() == Approx(13.0 / 17));
  CHECK(*tally.gate.recall() == Approx(17.0 / 39));
  CHECK(tally.flat_share() == Approx(0.39));
  CHECK(tally.gate.reasons.at("converged") == 17);
}

TEST_CASE("an unknown outcome counts for nothing") {
  ArmTally tally;
  add_outcome(tally, group(true, false), {});
  CHECK(tally.gate.groups == 0);
  CHECK(tally.gate.stops == 0);
}

TEST_CASE("a tally comes back from its checkpoint") {
  ArmTally tally;
  tally.name = "policy";
  tally.seconds = 12.5;
  tally.turns = 77;
  add_outcome(tally, group(true, false), {true, true, true});
  const auto saved = save(tally);
  CHECK(save(restore_tally(nlohmann::json::parse(saved.dump()))) == saved);
}
