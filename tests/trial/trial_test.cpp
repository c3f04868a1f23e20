// Tests of policies: they pass where the policy does what they say, and fail where it does not.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "runtime/engine/policy.h"
#include "runtime/trial/trial.h"
#include "tests/trial/one_file.h"

using namespace allot;
using namespace allot::trial::one_file;

namespace {

const std::string selective = R"(policy selective_rollout
param at: turns = 10
param threshold: real = 0.12 in 0..1
on turn at of group g {
  let divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, at, padded))
  when (divergence ?? 1.0) < threshold
    then stop, drop because "converged: divergence {divergence}"
  otherwise continue
}
)";

}  // namespace

TEST_CASE("the design's own test passes, and so do variations on it") {
  const auto reports = run(selective + R"(
test "identical prefixes stop" {
  given g = group { actions: [["look", "go desk"] * 5] * 4, turn: 10 }
  expect turn(g) is stop, drop
}
test "its reason" {
  given g = group { actions: [["look", "go desk"] * 5] * 4, turn: 10 }
  expect turn(g) because "converged: divergence 0"
}
test "a group of one has no pairs and never stops" {
  given g = group { actions: [["look"] * 10], turn: 10 }
  expect turn(g) is continue
}
test "a parameter can be set" {
  with at = 2
  given g = group { actions: [["a", "b"], ["a", "b"]], turn: 2 }
  expect turn(g) is stop, drop
}
)");
  REQUIRE(reports.size() == 4);
  for (const auto& report : reports) CHECK(report.passed);
}

TEST_CASE("a wrong expectation fails, with what came instead and what was read") {
  const auto reports = run(selective + R"(
test "too eager" {
  given g = group { actions: [["a"] * 10, ["b"] * 10], turn: 10 }
  expect turn(g) is stop, drop
}
test "a field left out is expected to be the default" {
  given g = group { actions: [["a"] * 10] * 2, turn: 10 }
  expect turn(g) is stop
}
test "another reason" {
  given g = group { actions: [["a"] * 10] * 2, turn: 10 }
  expect turn(g) is stop, drop because "converged: divergence 0.5"
}
test "a turn that no handler answers" {
  given g = group { actions: [["a"] * 9] * 2, turn: 9 }
  expect turn(g) is continue
}
)");
  REQUIRE(reports.size() == 4);
  for (const auto& report : reports) CHECK_FALSE(report.passed);
  const trial::ExpectReport& first = reports.front().expects.front();
  CHECK(first.expected == "stop, drop");
  CHECK(first.got == "continue");
  CHECK(first.trace.find("= 1\n") != std::string::npos);
  CHECK(first.trace.find("test.allot:8: continue") != std::string::npos);
  CHECK(first.line == 13);
  CHECK(reports.back().expects.front().got.find("no handler") != std::string::npos);
}

TEST_CASE("state per prompt is given for all prompts of a record alike, or for each of them") {
  const auto reports = run(R"(policy p
state value: real per prompt = 0
state pair: vec<real, 2> per prompt = [0, 0]
on select of pool p { take 1 by value[q] + pair[q][1] }
on finish of group g {
  when value[g.prompt] > 1 then drop
  otherwise train
}
test "alike" {
  given p = pool { slots: 1, seen: [true, false] }
  given value = 3
  given pair = [1, 2]
  expect select(p) is take 1 by [5, 5]
}
test "each" {
  given p = pool { slots: 1, seen: [true, false] }
  given value = [3, 4]
  given pair = [[1, 2], [3, 40]]
  expect select(p) is take 1 by [5, 44]
}
test "too many" {
  given p = pool { slots: 1, seen: [true, false] }
  given value = [3, 4, 5]
  expect select(p) is take 1 by [3, 4]
}
test "a group has one prompt" {
  given g = group { rewards: [1, 0] }
  given value = [3, 4]
  expect finish(g) is drop
}
)");
  REQUIRE(reports.size() == 4);
  CHECK(reports[0].passed);
  CHECK(reports[1].passed);
  CHECK(reports[2].expects.front().got.find("given for 3 prompts; the record has 2") != std::string::npos);
  CHECK(reports[3].expects.front().got.find("a group has one") != std::string::npos);
}

TEST_CASE("rewards, hits, states and all verdict fields can be written down") {
  const auto reports = run(R"(policy p
hit when reward >= 1
refill at most 3 rounds then train_partial
state belief: beta per prompt = beta(1, 1)
on size of batch b { start 2 each, up to 6 }
on result of group g {
  when g.hits >= 3 then complete to 6
  otherwise continue
}
on wave of group g {
  when beta_mean(belief[g.prompt]) > 0.7 then stop, drop, refill because "{g.prompt} is known"
  when g.hits == 0 and g.scored >= 2 then sample 2 more
  otherwise complete to 6
}
on finish of group g {
  when g.flat then drop
  otherwise train max_variance(g.rewards, 2), normalize over group
}
test "size" {
  given b = batch { prompts: ["x", "y"] }
  expect size(b) is start 2 each, up to 6
}
test "known prompts are left" {
  given belief = beta(9, 1)
  given g = group { rewards: [1, 0] }
  expect wave(g) is stop, drop, refill because "p is known"
}
test "counts may be given outright" {
  given g = group { hits: 3, misses: 0 }
  expect result(g) is complete to 6
}
test "misses ask for more" {
  given g = group { rewards: [0, 0, undefined] }
  expect wave(g) is sample 2 more
}
test "a subset" {
  given g = group { rewards: [0.5, 1, 0, undefined] }
  expect finish(g) is train [1, 2], normalize over group
}
test "flat" {
  given g = group { rewards: [1, 1] }
  expect finish(g) is drop
}
)");
  REQUIRE(reports.size() == 6);
  for (const auto& report : reports) {
    INFO(report.title << ": " << report.error << (report.expects.empty() ? "" : report.expects.front().got));
    CHECK(report.passed);
  }
}

TEST_CASE("a plain condition means what it would mean in a handler, lets included") {
  const auto reports = run(selective + R"(
test "holds" {
  given g = group { actions: [["a", "b"] * 5, ["a", "c"] * 5], turn: 10 }
  expect (divergence ?? 0) == 0.5
}
test "does not hold" {
  given g = group { actions: [["a", "b"] * 5, ["a", "c"] * 5], turn: 10 }
  expect (divergence ?? 0) == 0.4
}
)");
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].passed);
  CHECK_FALSE(reports[1].passed);
}

TEST_CASE("tests are chosen by a part of their title") {
  trial::Options options;
  options.only = "second";
  const auto reports = run(selective + R"(
test "first" { given g = group { turn: 10 }
  expect turn(g) is continue }
test "the second" { given g = group { turn: 10 }
  expect turn(g) is continue }
)", options);
  REQUIRE(reports.size() == 1);
  CHECK(reports.front().title == "the second");
}

TEST_CASE("a fault in the hit condition fails the test that meets it") {
  const std::string text = "policy p\nhit when 1 / reward >= 1\non finish of group g { train }\n"
                           "test \"t\" { given g = group { rewards: [0, 1] }\n  expect finish(g) is train }\n";
  const std::string report = trial::render(run(text), *program_of(text));
  CHECK(report.find("the `hit` condition faults for rollout 0") != std::string::npos);
}

TEST_CASE("every policy of the standard library passes its own tests") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ALLOT_SOURCE_DIR) + "/stdlib")) {
    if (entry.path().extension() != ".allot") continue;
    auto policy = engine::load_policy(entry.path(), {});
    if (!policy) FAIL(policy.error().text());
    ++files;
    for (const bool native : {false, true}) {
#ifndef ALLOT_HAS_NATIVE
      if (native) continue;
#endif
      trial::Options options;
      options.native = native;
      const auto reports = trial::run((*policy)->program(), options);
      INFO(trial::render(reports, (*policy)->program()));
      CHECK_FALSE(reports.empty());
      for (const auto& report : reports) CHECK(report.passed);
    }
  }
  CHECK(files >= 2);
}

// Every point can be asked by a test, and both engines are (native code where this build has it).

TEST_CASE("a test says what draws give") {
  for (const auto& report : run(R"(policy drawn
on select of pool p { take p.slots by draw("rate") }
on every turn of rollout r {
  when draw("stop") < 0.5 then stop
  otherwise continue
}
test "of each prompt" {
  given p = pool { slots: 1, draw_rate: [0.25, 0.75] }
  expect select(p) is take 1 by [0.25, 0.75]
}
test "of a rollout" {
  given low = rollout { draw_stop: 0.4 }
  given high = rollout { draw_stop: 0.6 }
  expect turn(low) is stop
  expect turn(high) is continue
}
)")) {
    CHECK(report.passed);
  }
}
