// `allot … ties: seeded "name"`, by the evaluator and by machine code: who gets what where several are worth the same, and
// that everything else is as it was.
#include <string>

#include "tests/trial/one_file.h"

using namespace allot;
using namespace allot::trial::one_file;

namespace {

void all_pass(const std::string& text) {
  const auto reports = run(text);
  CHECK_FALSE(reports.empty());
  for (const auto& report : reports) CHECK(report.passed);
}

}  // namespace

// The orders follow from the definition of the draw's order, computed apart from this code (in Python): positions p by
// mix(bits(draw) ^ mix(p + 1)), mix being SplitMix64's output function. For 0.5 they begin 1, 3, 0; for 0.25 0, 4, 1; for
// 0.9 4, 3, 0.
TEST_CASE("units that are worth the same go in the order of the draw, whatever the solver") {
  for (const char* how : {"maximizing n / 1 rollout", "maximizing n * n / 1 rollout", "in proportion to 1"}) {
    all_pass("policy tied\non wave of batch b {\n  let given = allot 3 rollouts over g in b.groups, n in 0..1 rollouts " +
             std::string(how) + R"( ties: seeded "tie"
  sample given more
}
test "one draw" {
  given b = batch { wave: [1, 1, 1, 1, 1, 1], draw_tie: 0.5 }
  expect wave(b) is sample [1, 1, 0, 1, 0, 0] more
}
test "another" {
  given b = batch { wave: [1, 1, 1, 1, 1, 1], draw_tie: 0.25 }
  expect wave(b) is sample [1, 1, 0, 0, 1, 0] more
}
test "a third" {
  given b = batch { wave: [1, 1, 1, 1, 1, 1], draw_tie: 0.9 }
  expect wave(b) is sample [1, 0, 0, 1, 1, 0] more
}
)");
  }
}

TEST_CASE("the order is the one in which `top` of the same name gives equal elements") {
  all_pass(R"(policy tied
on wave of batch b {
  let given = allot 4 over g in b.groups, n in 0..1 maximizing n ties: seeded "tie"
  let first = top([1.0 for g in b.groups], 4 rollouts, ties: seeded "tie")
  sample 0 more because "{sum(pick(given, first))}"
}
test "of seven" {
  given b = batch { wave: [1, 1, 1, 1, 1, 1, 1], draw_tie: 0.9 }
  expect wave(b) is sample 0 more because "4"
}
)");
}

// Where nothing ties the draw has nothing to say. By hand: with chances 0.15, 0.3 and 0.2 the gains are 0.15; 0.3, 0.21,
// 0.147, …; 0.2, 0.16, so four units go 0, 2, 2. Seven are as many as all bounds together. 12 + 1 + 8 is the best of
// n · n · s. 7 in shares of 3 to 1 are 5.25 and 1.75. The lows 1, 2 and 3 are more than 5.
TEST_CASE("what does not tie is as without a draw: bounds, utilities and counts stay with their items") {
  all_pass(R"(policy apart
hit when reward >= 1.0
on wave of batch b {
  let by_hits = allot 4 rollouts over g in b.groups, n in 0..g.hits
                maximizing any_prob(0.1 + 0.05 * (g.hits / 1 rollout), n)
                ties: seeded "tie"
  let whole = allot 7 rollouts over g in b.groups, n in 0..g.hits maximizing n / 1 rollout ties: seeded "tie"
  let tried = allot 5 over s in [3, 1, 2], n in 0..2 maximizing n * n * s ties: seeded "tie"
  let shared = allot 7 over w in [3, 1, 0], n in 0..9 in proportion to w ties: seeded "tie"
  let unmet = allot 5 over x in [1, 2, 3], n in x..9 maximizing n ties: seeded "tie"
  sample by_hits more because "{whole[0]} {whole[1]} {whole[2]}, {tried[0]} {tried[1]} {tried[2]}, {shared[0]} {shared[1]} {shared[2]}, {unmet[0] ?? -1}"
}
test "one draw" {
  given b = batch { hits: [1, 4, 2], wave: [1, 1, 1], draw_tie: 0.5 }
  expect wave(b) is sample [0, 2, 2] more because "1 4 2, 2 1 2, 5 2 0, -1"
}
test "another" {
  given b = batch { hits: [1, 4, 2], wave: [1, 1, 1], draw_tie: 0.25 }
  expect wave(b) is sample [0, 2, 2] more because "1 4 2, 2 1 2, 5 2 0, -1"
}
test "a third" {
  given b = batch { hits: [1, 4, 2], wave: [1, 1, 1], draw_tie: 0.9 }
  expect wave(b) is sample [0, 2, 2] more because "1 4 2, 2 1 2, 5 2 0, -1"
}
)");
}

// A half, then a quarter of what a group is worth: 3 and 2 are the two largest of 0.5, 0.25; 1.5, 0.75; 1, 0.5.
TEST_CASE("the rollouts and the state of a group are its own, in the engine too, under any seed") {
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    all_pass(R"(policy tied
state worth: int per prompt = 0
on size of batch b { start 1 each }
on wave 1 of batch b {
  let extra = allot 2 rollouts over g in b.groups, n in 0..2 rollouts
              maximizing clamp(max(g.rewards) ?? 0.0, 0, 9) * any_prob(0.5, n) + worth[g.prompt] * any_prob(0.1, n)
              ties: seeded "tie"
  sample extra more
}
scenario "what the groups are stays theirs" {
  slots 3
  seed )" + std::string(seed) + R"(
  iteration {
    group a: rewards 1
    group b: rewards 3, 0
    group c: rewards 2, 0
    expect a.started == 1
    expect b.started == 2
    expect c.started == 2
  }
}
)");
  }
}
