// Records of tests: what a group, a batch, a pool, a rollout or a micro-batch is given as.
#include <catch2/catch.hpp>

#include "lang/parser.h"
#include "runtime/trial/record.h"
#include "runtime/trial/trial.h"
#include "tests/trial/one_file.h"

using namespace allot;
using namespace allot::trial::one_file;

TEST_CASE("a record that no group could have is refused, with what to write") {
  const auto error = [](const std::string& record) {
    const auto reports = run("policy p\non finish of group g { train }\ntest \"t\" { given g = " + record +
                             "\n expect finish(g) is train }\n");
    REQUIRE(reports.size() == 1);
    CHECK_FALSE(reports.front().passed);
    return reports.front().error;
  };
  const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(has(error("group { rewards: \"abc\" }"), "for example `rewards: [1, 0, undefined]`"));
  CHECK(has(error("group { rewards: 1 }"), "for example `rewards: [1, 0, undefined]`"));
  CHECK(has(error("group { rewards: [\"a\"] }"), "for example `rewards: [1, 0, undefined]`"));
  CHECK(has(error("group { actions: [\"look\"] }"), "for example `actions: "));
  CHECK(has(error("group { actions: [[1]] }"), "for example `actions: "));
  CHECK(has(error("group { tokens: [1, -1] }"), "for example `tokens: "));
  CHECK(has(error("group { started: -1 }"), "`started` is a whole number in 0.."));
  CHECK(has(error("group { turn: -1 }"), "`turn` is a whole number in 0.."));
  CHECK(has(error("group { turn: 1.5 }"), "`turn` is a whole number in 0.."));
  CHECK(has(error("group { turn: 5_000_000_000 }"), "`turn` is a whole number in 0.."));
  CHECK(has(error("group { started: 5000 }"), "at most 4096 rollouts"));
  CHECK(has(error("group { hit_rate: 2 }"), "`hit_rate` is a number in 0..1"));
  CHECK(has(error("group { flat: 1 }"), "`flat` is true or false"));
  CHECK(has(error("group { prompt: 1 }"), "`prompt` is a text"));
  CHECK(has(error("group { rewards: [1, 0, 1], actions: [[\"a\"]] }"), "`rewards` is of 3 rollouts, `actions` of 1."));
}

TEST_CASE("a value that a test cannot be given is refused when the policy is checked, and no other is") {
  // What the check says is compared with the reader of the trial: on every one of these texts both must agree.
  const std::vector<std::string> texts{
      "1", "0.5", "50%", "4 rollouts", "-1", "- -1", "true", "undefined", "\"a\"", "beta(2, 1)", "beta(-1, 50%)", "[]",
      "[1, [2]]", "[1] * 4", "4 rollouts * ([1])", "[1] * 2 * 3", "2 * ([1] * 3)", "([1])",
      // and of what is computed
      "1 + 1", "4 rollouts * (2)", "4 rollouts * (2 + 1)", "[1] * [2]", "[1] * -1", "[1] * 1.5", "[1] * (1 + 1)", "[1] / 2",
      "[1] + [2]", "2 * 3 * [1]", "not true", "-true", "-[1]", "beta(1)", "beta(1, [2])", "beta(1, 1 + 1)", "[1, 1 + 1]",
      "size", "[size]", "[x for x in [1]]", "sum([1])", "[1][0]", "1 < 2", "if true then 1 else 2", "1 ?? 2", "group { turn: 1 }",
      "[1 + 1] * 2", "\"{size}\""};
  int refused = 0;
  for (const std::string& text : texts) {
    INFO(text);
    const auto source = std::make_shared<const lang::Source>(
        "test.allot", "policy p\nparam size: rollouts = 2\non finish of group g { when g.scored < size then drop }\n"
                      "test \"t\" { given g = group { started: " + text + " } expect finish(g) is train }\n");
    lang::Diagnostics diagnostics, of_syntax;
    (void)lang::check(source, diagnostics);
    const auto tree = lang::parse(*source, of_syntax);
    REQUIRE(tree);
    REQUIRE_FALSE(of_syntax.has_errors());
    trial::Allowance allowance;
    const lang::tree::Expr& record = (*tree)[tree->tests.front().givens.front().value];
    const bool read = static_cast<bool>(trial::literal(*tree, record.args.front(), allowance));
    // The reader leaves a hole out, as if nothing stood there.
    const bool holds_hole = text.find('{') != std::string::npos && text.front() == '"';
    CHECK(diagnostics.has_errors() == (!read || holds_hole));
    for (const lang::Diagnostic& each : diagnostics.all()) CHECK(each.code == "E0404");
    refused += diagnostics.has_errors() ? 1 : 0;
  }
  CHECK(refused == 28);  // those below the remark, counted there
}

TEST_CASE("the lists of a test have an end, however they are written") {
  const std::string list = GENERATE(std::string("actions: [[\"a\"] * 1_000_000] * 1_000_000"),
                                    std::string("rewards: [1, 0] * 4611686018427387905"),
                                    std::string("rewards: [1, 0] * 9223372036854775807"),
                                    std::string("actions: [[\"a\"] * 1000] * 1000"),
                                    std::string("actions: [[[] * 1000] * 1000] * 1000"));
  const auto reports = run("policy p\non finish of group g { train }\ntest \"t\" { given g = group { " + list +
                           " }\n expect finish(g) is train }\n");
  REQUIRE(reports.size() == 1);
  INFO(list << ": " << reports.front().error);
  CHECK(reports.front().error.find("at most 1000000 elements") != std::string::npos);
}

TEST_CASE("samples are shown, and said how to be written") {
  const auto reports = run(R"(policy p
param low: real = 0.5
on turn 1 of group g { stop where r.sample > 0 }
on finish of group g { train g.rewards > low }
test "train" { given g = group { rewards: [0, 0, 0, 0, 0, 1] }
  expect finish(g) is train [4] }
test "stop" { given g = group { actions: [["a"], ["a"]] }
  expect turn(g) is stop where [0] }
test "a condition" { given g = group { actions: [["a"], ["a"]] }
  expect turn(g) is stop where r.sample > 0 }
test "right" { given g = group { actions: [["a"], ["a"]] }
  expect turn(g) is stop where [1] }
)");
  REQUIRE(reports.size() == 4);
  CHECK(reports[0].expects.front().expected == "train [4]");
  CHECK(reports[0].expects.front().got == "train [5]");
  CHECK(reports[0].expects.front().trace.find("low = 0.5\n") != std::string::npos);
  CHECK(reports[1].expects.front().expected == "stop where [0]");
  CHECK(reports[1].expects.front().got == "stop where [1]");
  CHECK(reports[2].expects.front().got.find("`stop where [1]`") != std::string::npos);
  CHECK(reports[3].passed);
}

TEST_CASE("a batch of so many prompts") {
  const auto reports = run(R"(policy p
on size of batch b { start [if b.size > 3 then 2 else 1 for p in b.prompts] each }
test "four" { given b = batch { prompts: 4 }
  expect size(b) is start [2, 2, 2, 2] each }
test "none" { given b = batch { prompts: 0 }
  expect size(b) is start 1 each }
)");
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].passed);
  CHECK(reports[1].error.find("for example `prompts: 4`") != std::string::npos);
}

TEST_CASE("records of pools, batches, rollouts and micro-batches") {
  const auto reports = run(R"(policy answers
param most: iterations = 4
hit when reward >= 1.0
refill at most 3 rounds then abort
state hard: real per category = 0.5
on select of pool p { when p.size < 3 prompts then take where not q.seen
  otherwise take p.slots by q.reward_std }
on wave 2 of batch b { sample [if g.hits < 1 then 2 else 0 for g in b.groups] more }
on wave of batch b { complete to 8 }
on result of group g { when g.hits > 2 then stop, drop, refill, evict until 3
  when g.misses > 2 then stop, readmit
  when g.errors > 0 then stop, evict for good }
on resume of group g by -(g.reward_std ?? 0), g.age { complete to 16 }
on every turn of rollout r { when (r.last_entropy ?? 0) > 1 then branch 2 otherwise continue }
on score of rollout r { set reward = r.reward - 0.25 }
on shape of micro_batch b { set advantages = 2 * b.advantages, set baseline = 1 }
on replay of batch b { replay up to b.empty by g.age, max_age most }
on expand of batch b { branch [if (a.value ?? 0) > 0.5 then 1 else 0 for a in b.anchors] }
on epoch of pool p { evict where q.groups > 2 groups until epoch + 3, readmit where q.evicted }
test "select" {
  given few = pool { prompts: 2, seen: [true, false] }
  given many = pool { slots: 2, reward_std: [0.5, undefined, 0.25] }
  expect select(few) is take where [1]
  expect select(many) is take 2 by [0.5, undefined, 0.25]
}
test "wave" {
  given second = batch { wave: 2, hits: [0, 1, 0] }
  given third = batch { wave: 3, hits: [0, 1, 0] }
  expect wave(second) is sample [2, 0, 2] more
  expect wave(third) is complete to 8
}
test "all four fields" {
  given good = group { rewards: [1, 1, 1] }
  given bad = group { rewards: [0, 0, 0] }
  given broken = group { rewards: [0], errors: 1 }
  expect result(good) is stop, drop, refill, evict until 3
  expect result(bad) is stop, readmit
  expect result(broken) is stop, evict for good
}
test "the rest" {
  given g = group { rewards: [1, 0] }
  expect resume(g) is complete to 16
  given r = rollout { last_entropy: 1.5, reward: 1 }
  expect turn(r) is branch 2
  expect score(r) is set reward = 0.75
  given m = micro_batch { advantages: [0.5, -1] }
  expect shape(m) is set advantages = [1, -2], set baseline = 1
  given b = batch { empty: 1, age: [2, 1] }
  expect replay(b) is replay up to 1 by [2, 1], max_age 4
  given e = batch { value: [0.75, undefined] }
  expect expand(e) is branch [1, 0]
}
)");
  CHECK(reports.size() == 4);
  for (const auto& report : reports) CHECK(report.passed);
}

TEST_CASE("a field, a position or a number that differs fails the test") {
  const std::string policy = R"(policy answers
on select of pool p { take 2 by q.reward_std }
on finish of group g { when g.flat then drop, evict until 3 }
on shape of micro_batch b { set advantages = b.advantages }
)";
  for (const char* const expected :
       {"given p = pool { reward_std: [0.5, 1] }\nexpect select(p) is take 2 by [0.5, 2]",
        "given p = pool { reward_std: [0.5, 1] }\nexpect select(p) is take 3 by [0.5, 1]",
        "given p = pool { reward_std: [0.5, 1] }\nexpect select(p) is take 2",
        "given p = pool { reward_std: [0.5, 1] }\nexpect select(p) is take 2 by weight [0.5, 1]",
        "given g = group { rewards: [1, 1] }\nexpect finish(g) is drop",
        "given g = group { rewards: [1, 1] }\nexpect finish(g) is drop, evict until 4",
        "given g = group { rewards: [1, 1] }\nexpect finish(g) is drop, evict for good",
        "given b = micro_batch { advantages: [1, 2] }\nexpect shape(b) is set advantages = [1, 2.5]",
        "given b = micro_batch { advantages: [1, 2] }\nexpect shape(b) is set weights = [1, 2]",
        "given b = micro_batch { advantages: [1, 2], rewards: [1] }\nexpect shape(b) is set advantages = [1, 2]"}) {
    const auto reports = run(policy + "test \"t\" {\n" + expected + "\n}\n");
    INFO(expected);
    REQUIRE(reports.size() == 1);
    CHECK_FALSE(reports[0].passed);
  }
}

TEST_CASE("categories, turns of a rollout and the history of prompts can be given") {
  const auto reports = run(R"(policy e
state hard: real per category = 0.25
state seen: int per prompt = 0
on finish of group g { when hard[g.category] > 0.5 then drop, evict until epoch + 2
  otherwise train }
on every turn of rollout r { when (max(r.turn_entropies) ?? 0) > 2 then stop }
on size of batch b { start [if seen[p] > 0 or p.evicted then 1 else 2 for p in b.prompts] each }
on select of pool p { take where seen[q] < 1 and hard[q.category] < 0.5 }
test "category" {
  given hard = 0.75
  given g = group { rewards: [1, 0], category: "math" }
  expect finish(g) is drop, evict until 2
}
test "turns" {
  given r = rollout { turn_entropies: [1, 3, undefined] }
  expect turn(r) is stop
}
test "size" {
  given b = batch { prompts: 2 }
  expect size(b) is start [2, 2] each
}
test "select" {
  given p = pool { prompts: ["a", "b", "c"], category: ["x", "y", "x"], evicted: [false, true, false] }
  expect select(p) is take where [0, 1]
}
)");
  CHECK(reports.size() == 4);
  for (const auto& report : reports) CHECK(report.passed);
}
