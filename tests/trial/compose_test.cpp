// What composed policies decide, by the evaluator and by machine code. Expected verdicts follow from the rule of the
// language: the first member that settles a field wins it, subsets intersect, every `remember` runs.
#include "files.h"

using allot::trial::test::passes;
using allot::trial::test::program_of;

namespace {

const std::string spread = R"(
# file spread.allot
policy spread
refill at most 3 rounds then train_partial
on finish of group g {
  when g.flat or g.scored < 2 then drop, refill because "{g.scored} scored"
  otherwise train
}
# file pods.allot
policy pods
param kept: rollouts = 16
on finish of group g { train max_variance(g.rewards, kept), normalize over subset }
)";

}  // namespace

TEST_CASE("a gate, then a choice of samples: the gate drops, the choice trains") {
  passes(R"(policy team = spread then pods(kept: 2 rollouts)
test "flat" {
  given g = group { rewards: [1, 1, 1] }
  expect finish(g) is drop, refill because "3 scored"
}
test "spread" {
  given g = group { rewards: [0.5, 1, 0] }
  expect finish(g) is train [1, 2], normalize over subset
}
test "a parameter of a member" {
  with pods.kept = 3
  given g = group { rewards: [0.5, 1, 0] }
  expect finish(g) is train [0, 1, 2], normalize over subset
}
test "a condition" {
  given g = group { rewards: [0.5, 1, 0] }
  expect (g.reward_mean ?? 0) == 0.5
}
)" + spread);
}

TEST_CASE("a choice of samples that comes first leaves the gate its say") {
  // `train SUBSET` does not settle what becomes of the group: a later member may drop it.
  passes(R"(policy team = pods(kept: 2 rollouts) then spread
test "flat" {
  given g = group { rewards: [1, 1, 1] }
  expect finish(g) is drop, refill because "3 scored"
}
test "spread" {
  given g = group { rewards: [0.5, 1, 0] }
  expect finish(g) is train [1, 2], normalize over subset
}
)" + spread);
}

TEST_CASE("subsets intersect, whether lists or masks") {
  passes(R"(policy team = high then low then some
test "the middle" {
  given g = group { rewards: [0.1, 0.2, 0.3, 0.4, 0.5] }
  expect finish(g) is train [2]
}
# file high.allot
policy high
on finish of group g { train top(g.rewards, 3) }
# file low.allot
policy low
on finish of group g { train bottom(g.rewards, 3) }
# file some.allot
policy some
on finish of group g { train [(r.reward ?? 0) > 0.15 for r in g.rollouts] }
)");
}

TEST_CASE("rules of both members are tried as if each stood alone") {
  // one says a for A, b for B and nothing else; two says c for C and nothing else.
  passes(R"(policy team = one then two
test "a alone" { given g = group { rewards: [0.1, 0] }  expect finish(g) is train because "a" }
test "b alone" { given g = group { rewards: [0.3, 0] }  expect finish(g) is train because "b" }
test "a and c" { given g = group { rewards: [0.1, 0, 0] }  expect finish(g) is drop because "a; c" }
test "b and c" { given g = group { rewards: [0.3, 0, 0] }  expect finish(g) is drop because "b; c" }
test "c alone" { given g = group { rewards: [0.9, 0, 0] }  expect finish(g) is drop because "c" }
test "neither" { given g = group { rewards: [0.9, 0] }  expect finish(g) is train because "" }
# file one.allot
policy one
on finish of group g {
  when (g.reward_max ?? 0) < 0.2 then train because "a"
  when (g.reward_max ?? 0) < 0.5 then train because "b"
}
# file two.allot
policy two
on finish of group g { when g.scored > 2 then drop because "c" }
)");
}

TEST_CASE("at a turn where two gates meet both are asked") {
  passes(R"(policy team = one then two
test "both, and the first reason" {
  given g = group { actions: [["a"] * 4] * 2, turn: 4 }
  expect turn(g) is stop, drop because "one; two"
}
test "only the second comes at 5" {
  with two.at = 5
  given g = group { actions: [["a"] * 5] * 2, turn: 5 }
  expect turn(g) is stop because "two"
}
test "only the first comes at 4" {
  with two.at = 5
  given g = group { actions: [["a"] * 4] * 2, turn: 4 }
  expect turn(g) is stop, drop because "one"
}
# file one.allot
policy one
param at: turns = 4
on turn at of group g {
  when g.alive > 1 then stop, drop because "one"
  otherwise continue
}
# file two.allot
policy two
param at: turns = 4
on turn at of group g {
  when g.alive > 1 then stop because "two"
  otherwise continue
}
)");
}

TEST_CASE("a group that is dropped is not started again by a later member") {
  passes(R"(policy team = stops then grows
test "stopped" { given g = group { rewards: [0] }  expect wave(g) is stop, drop }
test "not stopped" { given g = group { rewards: [1] }  expect wave(g) is complete to 8 }
# file stops.allot
policy stops
on wave of group g { when (g.reward_mean ?? 0) < 0.5 then stop, drop }
# file grows.allot
policy grows
on wave of group g { complete to 8 }
)");
}

TEST_CASE("functions of other files decide as if they stood here") {
  passes(R"(policy p
import team.gates as gates
on finish of group g { when gates.worth(g.reward_mean ?? 0) < 0.3 then drop }
test "dropped" { given g = group { rewards: [0.5, 0.5] }  expect finish(g) is drop }
test "kept" { given g = group { rewards: [0.6, 0.6] }  expect finish(g) is train }
test "a condition calls it" { given g = group { rewards: [0.6, 0.6] }  expect gates.worth(0.5) == 0.25 }
# file team.gates.allot
policy gates
fn worth(x: real) -> real = square(x)
fn square(x: real) -> real = x * x
)");
}
