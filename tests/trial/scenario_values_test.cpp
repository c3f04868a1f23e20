// What a scenario is given and what it looks at: inputs, state, counts of groups, sums. Expectations follow from the
// policies at hand, by hand.
#include "files.h"

using allot::trial::test::passes;

TEST_CASE("inputs are given by prompt") {
  passes(R"(policy hard
input difficulty: real? per prompt
input anchor: real per run
on finish of group g {
  when difficulty[g.prompt] is undefined then drop because "unknown"
  when difficulty[g.prompt] > anchor then drop because "hard: {difficulty[g.prompt]}"
  otherwise train
}
scenario "by prompt" {
  slots 3
  size 1
  given difficulty["a"] = 0.9
  given difficulty["b"] = 0.1
  given anchor = 0.5
  iteration {
    group a: rewards 1
    group b: rewards 1
    group c: rewards 1
    expect a is dropped because "hard: 0.9"
    expect b is trained
    expect c is dropped because "unknown"
  }
}
test "of one group" {
  given difficulty = 0.7
  given anchor = 0.5
  given g = group { rewards: [1] }
  expect finish(g) is drop
}
)");
}

TEST_CASE("state of several cells, reports and warnings are looked at") {
  // mix starts as [[1, 2], [3, 4]] and is doubled for the prompt that was seen; run is [0.1, 0.2] and three times that.
  passes(R"(policy cells
state mix: mat<real, 2, 2> per prompt = [[1, 2], [3, 4]]
state run: vec<real, 2> per run = [0.1, 0.2]
on update of batch b {
  for each g in b.ended { remember mix[g.prompt] = 2 * mix[g.prompt] }
  remember run = 3 * run
  report scored = sum(g.scored / 1 rollouts for g in b.ended)
  warn when sum(g.scored / 1 rollouts for g in b.ended) > 2.5 because "many"
}
scenario "by element and whole" {
  given mix["b"] = [[0, 0], [0, 1]]
  slots 2
  iteration {
    group a: rewards 1, ?
    group b: rewards 1, ?
    expect mix["a"] == [[2, 4], [6, 8]] and mix["a"][1, 0] == 6
    expect mix["b"] == [[0, 0], [0, 2]] and mix["b"][1][1] == 2
    expect run == [0.3, 0.6] and run[1] == 0.6
    expect reported.scored == 2 and warned == 0
  }
  iteration {
    group a: rewards 1, 1
    group b: rewards 1, 1
    expect reported.scored == 4 and warned == 1
  }
}
)");
}

TEST_CASE("what a scenario counts of a group is what the group's handlers count") {
  // An error and a rollout without a score are started, and not scored.
  passes(R"(policy counts
on finish of group g { train because "{g.scored} of {g.started} in wave {g.wave}" }
scenario "scores, errors and none" {
  size 3
  slots 2
  iteration {
    group a: rewards 1, !, ?
    group b: rewards ?, ?, ?
    expect finish(a) because "1 of 3 in wave 1"
    expect a.scored == 1 and a.started == 3 and a.stopped == 0
    expect finish(b) because "0 of 3 in wave 1"
    expect b.scored == 0 and b.started == 3
  }
}
)");
}

TEST_CASE("sums and products of what a scenario looks at") {
  // 16 in all: a takes 3, 13 are left.
  passes(R"(policy sums
budget 16 rollouts per iteration
state mean_reward: real per prompt = 0.0
on size of batch b { start 3 each }
on update of batch b { for each g in b.ended { remember mean_reward[g.prompt] = g.reward_mean ?? 0.0 } }
scenario "of ledger, groups and state" {
  iteration {
    group a: rewards 1, 0, 0.5
    expect spent + left == 16
    expect left - 2 * a.started == 7
    expect -spent == -3
    expect mean_reward["a"] * a.scored == 1.5
    expect left / spent > 4.3 and left / spent < 4.4
  }
}
)");
}
