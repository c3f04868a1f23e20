// Scenarios: the engine over time. What they expect follows from the rules of the policies at hand, by hand. Pools,
// deferred groups, and what is given and looked at: scenario_*_test.cpp.
#include "files.h"
#include "runtime/trial/coverage.h"

using namespace allot;
namespace test = allot::trial::test;
using allot::trial::test::passes;
using allot::trial::test::run;

namespace {

const std::string sara = R"(policy sara
param size: rollouts = 8
hit when reward >= 1.0
refill at most 2 rounds then train_partial
budget 12 rollouts per iteration
state belief: beta per prompt = beta(1, 1)
state batches: int per run = 0
on size of batch b { start 2 each, up to size }
on wave of group g {
  when g.hits == g.scored or g.hits == 0 then stop, drop, refill because "{g.hits} of {g.scored}"
  otherwise complete to size
}
on update of batch b {
  for each g in b.ended { remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }
  remember batches = batches + 1
}
)";

}  // namespace

TEST_CASE("groups, refill rounds, ledger and state of two iterations") {
  // a: two misses, dropped, its slot goes to b: 1 and 0, then 4 in all (size 4). 2 + 4 = 6 rollouts of 12.
  // In the second iteration a hits once and misses once: beta(1, 1) + 0 of 2, then 1 of 4 more.
  passes(sara + R"(
scenario "a flat group makes room" {
  with size = 4
  slots 1
  iteration {
    group a: rewards 0, 0
    group b: rewards 1, 0, 1, ?
    expect wave 1 (a) is stop, drop, refill because "0 of 2"
    expect a is dropped because "0 of 2"
    expect wave 1 (b) is complete to 4
    expect b is trained
    expect b.started == 4 and b.round == 2 and b.slot == 0
    expect spent == 6
    expect left.rollouts == 6
    expect reserved == 0
    expect started == 6 and accepted == 4 and dropped == 2 and in_flight == 0
    expect rounds == 2
    expect trained == 1
    expect belief["a"] == beta(1, 3)
    expect belief["b"] == beta(3, 2)
    expect belief["c"] == beta(1, 1)
    expect batches == 1
  }
  iteration {
    group a: rewards 1, 0, 0, 0
    expect a is trained
    expect belief["a"] == beta(2, 6)
    expect batches == 2
    expect 1 < batches <= 2
  }
}
scenario "what a prompt is remembered for" {
  given belief["a"] = beta(5, 2)
  given batches = 7
  iteration {
    group a: rewards 1, 1
    group b: rewards !, 1
    expect belief["a"] == beta(7, 2)
    expect b is dropped because "1 of 1"
    expect belief["b"] == beta(2, 1)
    expect skip_update
    expect batches == 8
  }
}
scenario "the budget holds" {
  budget 5 rollouts
  slots 2
  iteration {
    group a: rewards 1, 0, 1, 1, 1, 1, 1, 1
    group b: rewards 1, 0, 1
    expect spent <= 5
    expect left >= 0
    expect started == 5
  }
}
)");
}

TEST_CASE("turns are walked in lock-step, and a pool goes round") {
  passes(R"(policy gate
on turn 2 of group g {
  when (unique_ratio(actions_at(g.actions, 2)) ?? 1.0) < 0.6 then stop, drop because "alike"
  otherwise continue
}
scenario "alike at the second turn" {
  size 2
  slots 2
  turn_tokens 3
  iteration {
    group a: actions [["look", "go", "take"]] * 2; rewards 1, 0
    group b: actions [["look", "go", "on"], ["look", "stay", "on"]]; rewards 1, 0
    expect turn(a) is stop, drop because "alike"
    expect turn 2 (b) is continue
    expect a is dropped
    expect b is trained
    expect a.stopped == 2 and b.stopped == 0
    expect b.subset == [0, 1]
  }
}
scenario "a pool" {
  size 2
  pool one, "two words", three
  iteration { group one: actions [["look"]] * 2; rewards 1, 0  expect one is trained }
  iteration { group "two words": actions [["look"]] * 2; rewards 1, 0  expect "two words" is trained }
  iteration { group three: actions [["look"]] * 2; rewards 1, 0  expect three is trained }
  iteration { group one: actions [["look"]] * 2; rewards 1, 0  expect one is trained }
}
)");
}

TEST_CASE("a composition runs as one policy") {
  // gate drops at the first turn what is alike; sara's beliefs count the dropped group too: one run, two memories.
  passes(R"(policy team = gate then count
scenario "both remember" {
  slots 2
  size 2
  iteration {
    group a: actions [["x", "y"]] * 2; rewards 1, 1
    group b: actions [["x", "y"], ["z", "y"]]; rewards 1, 1
    expect a is dropped
    expect b is dropped because "flat"
    expect gate.seen["a"] == 1
    expect count.seen["a"] == 10
    expect gate.seen["b"] == 1
  }
}
# file gate.allot
policy gate
state seen: int per prompt = 0
on turn 1 of group g { when (unique_ratio(actions_at(g.actions, 1)) ?? 1.0) < 0.6 then stop, drop }
on update of batch b { for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + 1 } }
# file count.allot
policy count
state seen: int per prompt = 0
on finish of group g { when g.flat then drop because "flat" }
on update of batch b { for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + 10 } }
)");
}

TEST_CASE("what is not as expected fails, and says what it is") {
  const auto reports = run(sara + R"(
scenario "wrong" {
  iteration {
    group a: rewards 0, 0
    expect a is trained
    expect wave(a) is complete to 8
    expect belief["a"] == beta(2, 1)
    expect wave 2 (a) is drop
    expect spent == 3 or started == 3
    expect a.colour == 3
  }
}
scenario "too few" { iteration { group a: rewards 1  expect a is trained } }
scenario "nobody told" { slots 2 iteration { group a: rewards 0, 0  expect a is dropped } pool a, b }
)");
  REQUIRE(reports.size() == 3);
  CHECK_FALSE(reports[0].passed);
  REQUIRE(reports[0].expects.size() == 6);
  for (const auto& expect : reports[0].expects) CHECK_FALSE(expect.passed);
  CHECK(reports[0].expects[0].got == "dropped because \"0 of 2\"");
  CHECK(reports[0].expects[1].got == "stop, drop, refill because \"0 of 2\"");
  CHECK(reports[0].expects[2].got == "false: belief[\"a\"] = beta(1, 3)");
  CHECK(reports[0].expects[4].got == "false: spent = 2, started = 2");
  CHECK(reports[0].expects[5].got.find("has no `colour`") != std::string::npos);
  CHECK(reports[1].error.find("but 1 rewards are written") != std::string::npos);
  CHECK(reports[2].error.find("group b was opened") != std::string::npos);
}

TEST_CASE("rules that answer in a scenario are covered") {
  const auto program = test::program_of(R"(policy covered
on finish of group g {
  when g.flat then drop
  otherwise train
}
scenario "flat" { iteration { group a: rewards 1, 1  expect a is dropped } }
)");
  const auto rules = trial::coverage(*program, trial::run(*program));
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].times == 1);
  CHECK(rules[1].times == 0);
}

TEST_CASE("a policy on turns needs actions in its scenario") {
  const auto reports = run(R"(policy gate
on turn 2 of group g { continue }
scenario "no turns" { iteration { group a: rewards 1, 0  expect a is trained } }
)");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].error.find("and none is written") != std::string::npos);
}

// Group a: rewards 1, 0, 0.5, mean 0.5, those after the first 0.5 in all; group b: 0, 0. Five rollouts, a's third comes
// because of its hit.
TEST_CASE("the rollouts of every group of a batch are walked") {
  passes(R"(policy walks
hit when reward >= 1.0
state mean_reward: real per prompt = -1.0
state spread: real per prompt = -1.0
state later: real per run = -1.0
state seen: int per run = 0
on size of batch b { start 2 each, up to 3 }
on wave of group g {
  when g.hits >= 1 and g.started < 3 then sample 1 more
  otherwise stop
}
on update of batch b {
  for each g in b.ended {
    remember mean_reward[g.prompt] = mean(r.reward for r in g.rollouts) ?? -1.0
    remember spread[g.prompt] = (max(g.rewards) ?? 0.0) - (min(g.rewards) ?? 0.0)
    for each r in g.rollouts { remember seen = seen + 1 }
  }
  remember later = max(sum(r.reward ?? 0.0 for r in g.rollouts where r.sample > 0) for g in b.ended) ?? -1.0
  report hits = sum(count((r.reward ?? 0.0) == 1.0 for r in g.rollouts) / 1 rollouts for g in b.ended)
}
scenario "of unequal size" {
  slots 2
  iteration {
    group a: rewards 1, 0, 0.5
    group b: rewards 0, 0
    expect mean_reward["a"] == 0.5 and mean_reward["b"] == 0
    expect spread["a"] == 1 and spread["b"] == 0
    expect later == 0.5 and seen == 5 and reported.hits == 1
  }
}
)");
  passes(R"(policy by_group
on size of batch b { start 2 each, up to 4 }
on wave 1 of batch b {
  let best = [max(g.rewards) ?? 0.0 for g in b.groups]
  sample [if (max(r.reward for r in g.rollouts) ?? 0.0) > 0.5 then 1 else 2 for g in b.groups] more
  report best = sum(best)
}
on wave of batch b { stop }
scenario "more for those that fail" {
  slots 2
  iteration {
    group a: rewards 1, 0, 0
    group b: rewards 0, 0, 0, 0
    expect started == 7
  }
}
)");
}

TEST_CASE("time stands still in a scenario") {
  // However long the machine takes, the budget of seconds is not touched: two runs are the same.
  passes(R"(policy quick
budget 10 seconds per iteration
scenario "no time passes" { iteration { group a: rewards 1, 0  expect spent == 0 and left == 10 } }
)");
}
