// What tests notice: expected figures are counted by hand from the policy's text.
#include <algorithm>
#include <catch2/catch.hpp>

#include "files.h"
#include "runtime/trial/coverage.h"
#include "runtime/trial/mutation.h"

using namespace allot;

namespace {

std::shared_ptr<const lang::Program> program_of(const std::string& text) {
  const auto source = std::make_shared<const lang::Source>("test.allot", text);
  lang::Diagnostics diagnostics;
  auto checked = lang::check(source, diagnostics);
  INFO(lang::render_all(diagnostics, *source));
  REQUIRE(checked);
  return std::make_shared<const lang::Program>(*std::move(checked));
}

std::vector<std::string> changes(const std::vector<trial::Mutant>& mutants) {
  std::vector<std::string> found;
  for (const trial::Mutant& mutant : mutants) {
    found.push_back(std::to_string(mutant.line) + ":" + std::to_string(mutant.column) + " " + mutant.change);
  }
  return found;
}

const std::string policy =
    "policy p\n"
    "param least: rollouts = 2\n"
    "refill at most 10 rounds then train_partial\n"
    "on finish of group g {\n"
    "  when g.scored < least then drop, refill\n"
    "  when (g.reward_mean ?? 0.0) > 0.8 then drop because \"solved\"\n"
    "  otherwise train\n"
    "}\n";
const std::string one_test =
    "test \"one is too few\" {\n  given g = group { rewards: [1, undefined] }\n  expect finish(g) is drop, refill\n}\n";
const std::string more_tests =
    "test \"two are enough\" {\n  given g = group { rewards: [1, 0] }\n  expect finish(g) is train\n}\n"
    "test \"solved\" {\n  given g = group { rewards: [1, 0.9] }\n  expect finish(g) is drop\n}\n"
    "test \"not quite\" {\n  given g = group { rewards: [0.7, 0.7] }\n  expect finish(g) is train\n}\n"
    "test \"three\" {\n  given g = group { rewards: [0.2, 0.2, 0.2] }\n  expect finish(g) is train\n}\n";

}  // namespace

TEST_CASE("every change that can be thought of is listed once, with its place") {
  // Of line 6, the fallback of `??` is replaced and not nudged too; the message is left alone.
  CHECK(changes(trial::mutants(*program_of(policy))) ==
        std::vector<std::string>{"2:25 `2` became `3`",
                                 "5:8 the condition never holds",
                                 "5:17 `<` became `>`",
                                 "5:30 `drop` was left out",
                                 "5:34 `refill` was left out",
                                 "6:8 the condition never holds",
                                 "6:26 `?? 0.0` became `?? 1.0`",
                                 "6:31 `>` became `<`",
                                 "6:33 `0.8` became `0.4`",
                                 "6:42 `drop` became `train`",
                                 "7:13 `train` became `drop`"});
  const auto edges = trial::mutants(*program_of(policy), {.boundaries = true});
  CHECK(edges.size() == 13);  // and `<=` and `>=`
}

TEST_CASE("what no test asks survives") {
  const auto report = trial::mutate(*program_of(policy + one_test));
  const std::vector<std::string> survivors = changes(report.survivors);
  const auto survives = [&](const std::string& change) {
    return std::find(survivors.begin(), survivors.end(), change) != survivors.end();
  };
  CHECK(survives("6:33 `0.8` became `0.4`"));
  CHECK(survives("7:13 `train` became `drop`"));
  CHECK_FALSE(survives("5:34 `refill` was left out"));
  CHECK_FALSE(survives("5:17 `<` became `>`"));
  CHECK(report.tried == 11);
}

TEST_CASE("tests on either side of every rule leave one survivor: a fallback that is never needed") {
  // The mean is undefined only where nothing is scored, and the rule before has answered then.
  const auto report = trial::mutate(*program_of(policy + one_test + more_tests));
  CHECK(changes(report.survivors) == std::vector<std::string>{"6:26 `?? 0.0` became `?? 1.0`"});
}

TEST_CASE("a change that does not check is no mutant") {
  // `on turn` may not sample: the opposite of `stop` is fine, tokens times tokens cannot be compared with tokens.
  const auto report = trial::mutate(*program_of(
      "policy p\non turn 3 of group g {\n  when g.tokens / 2 > 5 tokens then stop\n}\n"
      "test \"t\" {\n  given g = group { tokens: 8, turn: 3 }\n  expect turn(g) is continue\n}\n"));
  CHECK(report.refused + report.tried == static_cast<int>(trial::mutants(*program_of(
      "policy p\non turn 3 of group g {\n  when g.tokens / 2 > 5 tokens then stop\n}\n")).size()));
}

TEST_CASE("coverage counts the tests in which each rule answered") {
  const auto program = program_of(policy + one_test);
  const auto rules = trial::coverage(*program, trial::run(*program));
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].times == 1);
  CHECK(rules[1].times == 0);
  CHECK(rules[2].times == 0);
  CHECK(rules[1].line == 6);
  CHECK(rules[1].point == "on finish of group g");
  CHECK(rules[2].text == "otherwise train");
}

namespace {

const std::string members = R"(
# file gate.allot
policy gate
on finish of group g { when g.flat then drop because "flat" }
# file few.allot
policy few
param least: rollouts = 2
on finish of group g { when g.scored < least then drop because "few" }
# file grows.allot
policy grows
on wave of group g { complete to 4 }
)";

}  // namespace

TEST_CASE("of a composition its members are left out, reordered and given other numbers") {
  const auto team = trial::test::program_of("policy team = gate then few(least: 3 rollouts) then grows\n" + members);
  CHECK(changes(trial::mutants(*team)) ==
        std::vector<std::string>{"1:15 `gate` was left out", "1:15 `few` came before `gate`", "1:19 `few` was left out",
                                 "1:25 `grows` came before `few`", "1:36 `3` became `4`",
                                 "1:47 `grows` was left out"});
  for (const trial::Mutant& mutant : trial::mutants(*team)) {
    const std::string line = mutant.text.substr(0, mutant.text.find('\n'));
    if (mutant.change == "`few` was left out") CHECK(line == "policy team = gate then grows");
    if (mutant.change == "`gate` was left out") CHECK(line == "policy team = few(least: 3 rollouts) then grows");
    if (mutant.change == "`few` came before `gate`") CHECK(line == "policy team = few(least: 3 rollouts) then gate then grows");
  }
}

TEST_CASE("a composition's tests notice that a member is gone, and in which order two of them answer") {
  // few and grows answer at different points: their order is no change. Without grows the test of `wave` does not check,
  // which is noticing. That three are enough is asked by nobody.
  const std::string text = "policy team = gate then few(least: 3 rollouts) then grows\n"
                           "test \"both\" {\n  given g = group { rewards: [1, 1] }\n"
                           "  expect finish(g) is drop because \"flat; few\"\n}\n"
                           "test \"grows\" {\n  given g = group { rewards: [1] }\n  expect wave(g) is complete to 4\n}\n";
  const auto report = trial::mutate(*trial::test::program_of(text + members));
  CHECK(report.tried == 5);
  CHECK(report.refused == 1);
  CHECK(changes(report.survivors) == std::vector<std::string>{"1:36 `3` became `4`"});
}

TEST_CASE("a policy that imports is changed in its own text, not in what it imports") {
  const std::string text = R"(policy p
import gates as gates
on finish of group g { when gates.worth(g.reward_mean ?? 0) < 0.3 then drop }
test "dropped" { given g = group { rewards: [0.5, 0.5] }  expect finish(g) is drop }
test "kept" { given g = group { rewards: [0.6, 0.6] }  expect finish(g) is train }
# file gates.allot
policy gates
fn worth(x: real) -> real = x * x
)";
  const auto report = trial::mutate(*trial::test::program_of(text));
  // Never holds, another fallback, `>`, 0.45, train; 0.36 is not below 0.3, and below 0.45.
  CHECK(report.tried == 5);
  CHECK(changes(report.survivors) == std::vector<std::string>{"3:58 `?? 0` became `?? 1`"});
}
