// Shadow, holdout and pausing: how a policy is tried without being believed.
#include <cmath>
#include <limits>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/bench.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::prompts;
using bench::settings;
using bench::steady;

namespace {

const char* const stopper = R"(
policy stopper
on turn 2 of group g { stop, drop because "always" }
)";

// Prompts with an even last digit end flat, the others mixed.
Course course_of(const std::string& prompt, int sample) {
  return steady(5, prompt.back() % 2 == 0 ? 1.0 : sample % 2);
}

}  // namespace

TEST_CASE("Wilson's interval at known points") {
  // Wilson 1927, z = 1.959964: 5 of 10 gives 0.2366 to 0.7634; 0 of 10 gives 0 to 0.2775 (z² / (n + z²)).
  // Newcombe (1998), Statistics in Medicine 17:857, table I, method 3.
  CHECK(wilson(81, 263).low == Approx(0.2553).margin(5e-5));
  CHECK(wilson(81, 263).high == Approx(0.3662).margin(5e-5));
  CHECK(wilson(1, 29).low == Approx(0.0061).margin(5e-5));
  CHECK(wilson(1, 29).high == Approx(0.1718).margin(5e-5));
  CHECK(wilson(0, 20).high == Approx(0.1611).margin(5e-5));
  CHECK(wilson(5, 10).low == Approx(0.2366).margin(1e-4));
  CHECK(wilson(5, 10).high == Approx(0.7634).margin(1e-4));
  CHECK(wilson(0, 10).low == Approx(0).margin(1e-12));
  CHECK(wilson(0, 10).high == Approx(0.2775).margin(1e-4));
  CHECK(wilson(0, 0).low == 0);
  CHECK(wilson(0, 0).high == 1);
}

TEST_CASE("in shadow the policy decides, is logged, and changes nothing") {
  Settings shadow = settings(4, 4);
  shadow.shadow = true;
  auto engine = engine_of(stopper, shadow);
  Driver driver(*engine, course_of);
  const IterationReport report = driver.run(0, prompts(4));
  CHECK(report.trained.size() == 4);
  CHECK(driver.stops.empty());
  CHECK(driver.holds == 0);
  CHECK(driver.turns == 4 * 4 * 5);
  CHECK(report.metrics.at("gate/stop") == 4);
  CHECK(report.metrics.at("gate/carried_out") == 0);
  CHECK(report.metrics.at("holdout/precision") == 0.5);  // two of four would have been flat
}

TEST_CASE("a held-out group runs to its end, whatever the order, and shows whether the stop was right") {
  Settings held = settings(20, 4);
  held.holdout = 0.3;
  std::set<std::string> first;
  for (std::uint64_t order = 0; order < 4; ++order) {
    auto engine = engine_of(stopper, held);
    Driver driver(*engine, course_of, order);
    const IterationReport report = driver.run(0, prompts(20));
    std::set<std::string> kept;
    int flat = 0;
    for (const GroupResult& result : driver.closed) {
      CHECK(result.gate.stop);
      CHECK(result.gate.carried_out == (result.fate == Fate::Dropped));
      if (result.fate != Fate::Trained) continue;
      kept.insert(result.prompt);
      flat += result.flat;
      CHECK(result.subset.size() == 4);
    }
    // 0.3 · 20 = 6; outside 1..13 has a chance below 1 in 1000 under a fair draw.
    CHECK(kept.size() >= 1);
    CHECK(kept.size() <= 13);
    CHECK(report.metrics.at("holdout/observed") == kept.size());
    CHECK(report.metrics.at("holdout/precision") == Approx(static_cast<double>(flat) / static_cast<double>(kept.size())));
    if (order == 0) first = kept;
    CHECK(kept == first);
  }
}

TEST_CASE("a policy that is wrong too often is paused, says so, and stays paused over a resume") {
  Settings watched = settings(12, 4);
  watched.holdout = 1;
  watched.pause_below = 0.6;
  auto engine = engine_of(stopper, watched);
  Driver driver(*engine, course_of);
  const IterationReport first = driver.run(0, prompts(10));  // 5 of 10 flat: 0.5
  CHECK(first.message.find("paused") != std::string::npos);
  CHECK(first.metrics.at("policy/paused") == 1);
  Settings unheld = watched;
  unheld.holdout = 0;
  auto resumed = engine_of(stopper, unheld);
  REQUIRE(resumed->restore(engine->save_state()));
  Driver second(*resumed, course_of);
  second.run(1, prompts(10));
  CHECK(second.stops.empty());
}

TEST_CASE("what a policy is paused below is a share from 0 to 1") {
  Settings watched = settings(1, 2);
  for (const double share : {std::nan(""), -0.1, 1.1, std::numeric_limits<double>::infinity()}) {
    watched.pause_below = share;
    const auto refused = Engine::create(watched);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("pause_below is ") == 0);
  }
  for (const double share : {0.0, 1.0}) {
    watched.pause_below = share;
    CHECK(Engine::create(watched));
  }
}

TEST_CASE("nine held-out groups are too few to pause on, and a precise policy goes on") {
  Settings watched = settings(12, 4);
  watched.holdout = 1;
  watched.pause_below = 0.6;
  auto few = engine_of(stopper, watched);
  Driver driver(*few, [](const std::string&, int sample) { return steady(5, sample % 2); });
  CHECK(driver.run(0, prompts(9)).message.empty());
  CHECK_FALSE(driver.run(1, prompts(1)).message.empty());  // the tenth
  auto precise = engine_of(stopper, watched);
  Driver right(*precise, [](const std::string&, int) { return steady(5, 1.0); });
  CHECK(right.run(0, prompts(12)).message.empty());
}

TEST_CASE("a pause ends with the policy that was wrong: the next one decides, and is measured by itself") {
  Settings watched = settings(12, 4);
  watched.holdout = 1;
  watched.pause_below = 0.6;
  SwapRequest request;
  for (const bool within : {false, true}) {
    INFO("swapped " << (within ? "within an iteration" : "between two"));
    auto engine = engine_of(stopper, watched);
    CHECK(Driver(*engine, course_of).run(0, prompts(10)).metrics.at("policy/paused") == 1);  // 5 of 10 flat: 0.5
    request.policy = bench::policy_of("policy dropper\non finish of group g { drop }\n");
    SwapReport report;
    int next = 1;
    if (within) {  // groups of the one before run, so it stays paused for so long
      Driver driver(*engine, course_of);
      driver.after_event = [&] {
        if (report.ticket == 0) report = engine->swap(request);
      };
      const IterationReport told = driver.run(next++, prompts(10));
      CHECK(report.reason.find("decides in shadow up to the end of iteration 1") != std::string::npos);
      CHECK(told.metrics.at("policy/paused") == 1);
      CHECK(told.trained.size() == 10);
    } else {
      report = engine->swap(request);
      CHECK(report.reason.empty());
    }
    REQUIRE(report.outcome == SwapOutcome::Active);
    for (const bool resumed : {false, true}) {
      if (resumed) {  // the end of the pause is saved
        const std::string state = engine->save_state();
        if (auto restored = engine->restore(state); !restored) FAIL(restored.error().text());
      }
      Driver driver(*engine, course_of);
      const IterationReport told = driver.run(next++, prompts(10));
      CHECK(told.metrics.at("policy/paused") == 0);
      CHECK(told.metrics.at("holdout/observed") == 0);
      CHECK(told.trained.empty());
      CHECK(driver.closed.size() == 10);
    }
  }
}
