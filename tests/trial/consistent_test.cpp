// Records of groups that there could not be, and what follows in those that there could. By the definitions of the facts
// (docs/language.md): scored, mean, spread and hits follow from rewards; a hit is scored, a scored rollout was started.
#include "runtime/trial/consistent.h"

#include "files.h"

using namespace allot;
using allot::trial::test::passes;
using allot::trial::test::run;

namespace {

// Why the group cannot be asked about; empty where it can.
std::string refused(const std::string& record, const std::string& policy = "policy p\nhit when reward >= 1.0\n") {
  const auto reports = run(policy + "on finish of group g { train because \"{g.scored} {g.started}\" }\n"
                           "test \"t\" {\n  given g = group { " + record + " }\n  expect finish(g) is train\n}\n");
  REQUIRE(reports.size() == 1);
  REQUIRE(reports[0].error.empty());
  REQUIRE(reports[0].expects.size() == 1);
  return reports[0].passed ? "" : reports[0].expects[0].got;
}

}  // namespace

TEST_CASE("what is given beside rewards must be what follows from them") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"rewards: [0, 0], hits: 5", "`hits` is 5, and by `rewards` it is 0."},
      {"rewards: [1, 0], misses: 0", "`misses` is 0, and by `rewards` it is 1."},
      {"rewards: [1, 0], hit_rate: 0.25", "`hit_rate` is 0.25, and by `rewards` it is 0.5."},
      {"rewards: [1, 0], flat: true", "`flat` is true, and by `rewards` it is false."},
      {"rewards: [1, 0], reward_mean: 7", "`reward_mean` is 7, and by `rewards` it is 0.5."},
      {"rewards: [1, 0], reward_mean: undefined", "`reward_mean` is undefined, and by `rewards` it is 0.5."},
      {"rewards: [1, 0], reward_std: 0.25", "`reward_std` is 0.25, and by `rewards` it is 0.5."},
      {"rewards: [1, undefined], scored: 2", "`scored` is 2, and by `rewards` it is 1."},
      {"rewards: [undefined], reward_max: 1", "`reward_max` is 1, and by `rewards` it is undefined."}};
  for (const auto& [record, words] : wrong) {
    INFO(record);
    CHECK(refused(record).starts_with(words));
  }
  for (const char* const record : {"rewards: [1, 0], hits: 1, misses: 1, scored: 2, hit_rate: 0.5, flat: false, reward_mean: 0.5, "
                                   "reward_min: 0, reward_max: 1, reward_sum: 1, reward_variance: 0.25, reward_std: 0.5",
                                   "rewards: [0.1, 0.2], reward_mean: 0.15", "rewards: [undefined], reward_mean: undefined"}) {
    INFO(record);
    CHECK(refused(record).empty());
  }
}

TEST_CASE("without a condition for hits they may be given, as many as are scored") {
  CHECK(refused("rewards: [0, 0], hits: 1", "policy p\n").empty());
  CHECK(refused("rewards: [0, 0], hits: 3", "policy p\n").starts_with("`hits` is 3, and `scored` 2."));
  CHECK(refused("rewards: [0, 0], hits: 1, misses: 2", "policy p\n").starts_with("`hits` is 1 and `misses` 2, and `scored` 2."));
}

TEST_CASE("counts fit together") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"hits: 3, scored: 2", "`hits` is 3, and `scored` 2."},
      {"hits: 1, misses: 2, scored: 2", "`hits` is 1 and `misses` 2, and `scored` 2."},
      {"started: 2, scored: 3", "`scored` is 3, and `started` 2."},
      {"started: 2, alive: 3", "`alive` is 3, and `started` 2."},
      {"started: 4, alive: 1, ended: 1", "`alive` is 1 and `ended` 1, and `started` 4."},
      {"rewards: [1], errors: 2, started: 1", "`errors` is 2, and `started` 1."},
      {"hits: 1, misses: 1, hit_rate: 0.75", "`hit_rate` is 0.75, with 1 hits of 2 scored."},
      {"actions: [[\"a\"]] * 2, hits: 5", "`hits` is 5, and the lists are of 2 rollouts."},
      {"rewards: [1, 0], alive: 3", "`alive` is 3, and the lists are of 2 rollouts."},
      {"rewards: [1, 0], alive: 1", "`alive` is 1 and `scored` 2, of 2 rollouts."},
      {"started: 4, scored: 2, alive: 3", "`alive` is 3 and `scored` 2, of 4 rollouts."},
      {"reward_min: 1, reward_mean: 0.5", "`reward_min` is 1, and `reward_mean` 0.5."},
      {"reward_mean: 0.5, reward_max: 0.25", "`reward_mean` is 0.5, and `reward_max` 0.25."}};
  for (const auto& [record, words] : wrong) {
    INFO(record);
    CHECK(refused(record).starts_with(words));
  }
}

TEST_CASE("a live rollout stands beside those that are scored") {
  for (const char* const record : {"rewards: [1, 0, undefined], alive: 1", "rewards: [1, 0], started: 4, alive: 2",
                                   "scored: 2, alive: 2", "actions: [[\"a\"]] * 4, alive: 4"}) {
    INFO(record);
    CHECK(refused(record).empty());
  }
}

TEST_CASE("what follows from counts that are given alone") {
  passes(R"(policy p
hit when reward >= 1.0
on finish of group g { train because "{g.hits} {g.misses} {g.scored} of {g.started}, {g.hit_rate}" }
test "hits" { given g = group { hits: 3 }  expect finish(g) because "3 0 3 of 3, 1" }
test "both" { given g = group { hits: 3, misses: 1 }  expect finish(g) because "3 1 4 of 4, 0.75" }
test "hits of the scored" { given g = group { hits: 1, scored: 4 }  expect finish(g) because "1 3 4 of 4, 0.25" }
test "hits of rewards" { given g = group { hits: 1, rewards: [0, 1] }  expect finish(g) because "1 1 2 of 2, 0.5" }
test "misses of more" { given g = group { misses: 1, scored: 4, started: 5 }  expect finish(g) because "3 1 4 of 5, 0.75" }
)");
}

TEST_CASE("the raw reward is the reward where nothing else is said") {
  passes(R"(policy raw
on score of rollout r { set reward = r.raw_reward - 0.25 }
test "one" { given r = rollout { reward: 1 }  expect score(r) is set reward = 0.75 }
test "other" { given r = rollout { reward: 1, raw_reward: 2 }  expect score(r) is set reward = 1.75 }
)");
}

TEST_CASE("an input that must be there is asked for where it is missing") {
  const auto reports = run(R"(policy hard
input anchor: real per run
input difficulty: real? per prompt
on finish of group g {
  when (difficulty[g.prompt] ?? 0) > anchor then drop
  otherwise train
}
test "without" { given g = group { rewards: [1] }  expect finish(g) is train }
test "with" {
  given anchor = 0.5
  given g = group { rewards: [1] }
  expect finish(g) is train
}
)");
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].expects.at(0).got.starts_with("The input `anchor` is not given."));
  CHECK(reports[1].passed);
}

TEST_CASE("a wave is over where a group is asked at its end") {
  passes(R"(policy waves
on turn 1 of group g { continue because "{g.wave}" }
on wave of group g { complete to 4 because "{g.wave}" }
on finish of group g { train because "{g.wave}" }
test "as in a run" {
  given g = group { actions: [["a"]] * 2, turn: 1 }
  expect turn(g) because "0"
  expect wave(g) because "1"
  expect finish(g) because "1"
}
test "as it is given" {
  given g = group { rewards: [1, 0], wave: 3 }
  expect wave(g) because "3"
  expect finish(g) because "3"
}
)");
}
