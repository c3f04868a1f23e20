// Public faults of the engine's part (faults.md), and what happens when a policy itself faults.
#include <algorithm>
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

TEST_CASE("fault 12: a hit condition that nothing meets is told, with the count and the best reward") {
  const double rewards[] = {-17.25, -10.5, -17.25, -16};
  const auto courses = [&](const std::string&, int sample) { return steady(1, rewards[sample]); };
  auto engine = engine_of(R"(
policy p
hit when reward > 0
on finish of group g { report hits = g.hits
  train }
)", settings(1, 4));
  Driver driver(*engine, courses);
  const IterationReport report = driver.run(0, prompts(1));
  CHECK(report.metrics.at("report/hits") == 0);
  CHECK(report.message.find("no reward in this run has met the hit condition (n = 4, max -10.5)") != std::string::npos);
  auto scaled = engine_of(R"(
policy p
hit when reward >= -12
on finish of group g { report hits = g.hits
  train }
)", settings(1, 4));
  Driver second(*scaled, courses);
  const IterationReport met = second.run(0, prompts(1));
  CHECK(met.metrics.at("report/hits") == 1);
  CHECK(met.message.find("hit condition") == std::string::npos);
}

TEST_CASE("fault 10: leaving out of the loss and leaving out of the group are two verdicts, and the log says which") {
  // [1, 1, 0, -3 (timeout)]: over the group the baseline is -0.25, over the subset 2/3.
  for (const std::string over : {"group", "subset"}) {
    auto engine = engine_of(fmt::format(R"(
policy p
on finish of group g {{ train [r.errored == false for r in g.rollouts], normalize over {} }}
)", over), settings(1, 4));
    Driver driver(*engine, [](const std::string&, int sample) {
      const double rewards[] = {1, 1, 0, -3};
      Course course = steady(1, rewards[sample]);
      if (sample == 3) course.status = Status::Timeout;
      return course;
    });
    driver.run(0, prompts(1));
    CHECK(driver.closed.front().subset == std::vector<int>{0, 1, 2});
    CHECK((driver.closed.front().normalize == NormalizeOver::Group) == (over == "group"));
  }
}

TEST_CASE("fault 7: a reward that is not finite is unscored and counted, never trained on") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    auto engine = engine_of("", settings(1, 4));
    Driver driver(*engine, [&](const std::string&, int sample) { return steady(1, sample == 0 ? bad : 1.0 * sample); });
    const IterationReport report = driver.run(0, prompts(1));
    CHECK(driver.closed.front().subset == std::vector<int>{1, 2, 3});
    CHECK(report.metrics.at("rollouts/nonfinite") == 1);
    CHECK(std::isfinite(report.metrics.at("reward/all")));
  }
}

TEST_CASE("fault 27: one aborted rollout is the policy's matter: keep seven, start one more, or drop eight") {
  const auto courses = [](const std::string&, int sample) {
    Course course = steady(2, sample == 3 ? std::nullopt : std::optional<double>(sample % 2));
    if (sample == 3) course.status = Status::Aborted;
    return course;
  };
  const std::string size = "policy p\non size of batch b { start 8 each, up to 10 }\n";
  SECTION("keep what is scored") {
    auto engine = engine_of(size + R"(
on wave of group g {
  when g.scored >= 6 then stop
  otherwise complete to 10
}
)", settings(1, 8));
    Driver driver(*engine, courses);
    driver.run(0, prompts(1));
    CHECK(driver.closed.front().subset == std::vector<int>{0, 1, 2, 4, 5, 6, 7});
  }
  SECTION("start what is missing") {
    auto engine = engine_of(size + R"(
on wave of group g {
  when g.scored < 8 then sample 8 - g.scored more
  otherwise stop
}
)", settings(1, 8));
    Driver driver(*engine, courses);
    driver.run(0, prompts(1));
    CHECK(driver.closed.front().subset == std::vector<int>{0, 1, 2, 4, 5, 6, 7, 8});
    CHECK(driver.starts.back().count == 1);
  }
  SECTION("drop what is incomplete") {
    auto engine = engine_of(size + R"(
on wave of group g {
  when g.scored < 8 then stop, drop because "{g.scored} of 8 are scored"
  otherwise stop
}
)", settings(1, 8));
    Driver driver(*engine, courses);
    driver.run(0, prompts(1));
    CHECK(driver.closed.front().fate == Fate::Dropped);
    CHECK(driver.closed.front().reason == "7 of 8 are scored");
    CHECK(engine->ledger().conservation().dropped == 8);
  }
}

TEST_CASE("fault 28: a stopped group is over at once; what still arrives is counted and ignored") {
  auto engine = engine_of(R"(
policy p
on size of batch b { start 2 each, up to 4 }
on result of group g { stop, drop }
)", settings(1, 4));
  auto begun = engine->begin_iteration(0, {"p"});
  REQUIRE(begun);
  Turn last;
  last.last = true;
  REQUIRE(engine->turn({0, 0}, last));
  auto orders = engine->ended({0, 0}, {Status::Completed, 1.0, std::nullopt, "", ""});
  REQUIRE(orders);
  CHECK(orders->stop == std::vector<RolloutRef>{{0, 1}});
  CHECK(orders->closed.size() == 1);   // two were never started, and nobody waits for them
  CHECK(orders->batch_closed);
  auto late = engine->ended({0, 1}, {Status::Completed, 1.0, std::nullopt, "", ""});
  REQUIRE(late);
  CHECK(late->closed.empty());
  auto never = engine->ended({0, 3}, {Status::Completed, 1.0, std::nullopt, "", ""});
  REQUIRE(never);
  auto report = engine->end_iteration();
  REQUIRE(report);
  CHECK(report->metrics.at("events/late") == 1);
  CHECK(report->metrics.at("events/unknown") == 1);
  CHECK(report->metrics.at("rollouts/completed") == 1);
}

TEST_CASE("fault 20: a task that always fails is given up after its attempts, with the reason, and the others go on") {
  auto engine = engine_of(R"(
policy p
on size of batch b { start 1 each, up to 2 }
on wave of group g {
  when g.scored < 1 then sample 1 more
  otherwise stop
}
)", settings(4, 1));
  Driver driver(*engine, [](const std::string& prompt, int sample) {
    Course course = steady(1, 1.0);
    if (prompt != "p2") return course;
    course.reward.reset();
    course.status = Status::Timeout;
    course.cause = sample == 0 ? "the sandbox is gone" : "";
    return course;
  });
  const IterationReport report = driver.run(0, prompts(4));
  CHECK(report.metrics.at("rollouts/timeout") == 2);  // its attempts, as `up to` declares them
  CHECK(report.trained == std::vector<int>{0, 1, 3});
  const auto given_up = std::find_if(driver.closed.begin(), driver.closed.end(), [](const GroupResult& result) { return result.prompt == "p2"; });
  REQUIRE(given_up != driver.closed.end());
  CHECK(given_up->fate == Fate::Dropped);
  CHECK(given_up->reason == "no rollout was scored: 2 × timeout (the sandbox is gone)");
}

// Nothing waits for a clock: the events of the failures close the batch, and the cause is in the report.
TEST_CASE("fault 19: when the producer dies the consumer gets the cause at once") {
  auto engine = engine_of("", settings(2, 2));
  auto orders = engine->begin_iteration(0, {"p", "q"});
  REQUIRE(orders);
  bool closed = false;
  int told = 0;
  for (const Start& start : orders->start) {
    for (int sample = start.first; sample < start.first + start.count; ++sample) {
      CHECK_FALSE(closed);
      auto more = engine->ended({start.group, sample}, {Status::Error, std::nullopt, std::nullopt, "engine 0 exited with 139", ""});
      REQUIRE(more);
      closed = more->batch_closed;
      ++told;
    }
  }
  CHECK(told == 4);
  REQUIRE(closed);
  const auto report = engine->end_iteration();
  REQUIRE(report);
  CHECK(report->skip_update);
  CHECK(report->message.find("4 rollouts ended in error") != std::string::npos);
  CHECK(report->message.find("engine 0 exited with 139") != std::string::npos);
}

TEST_CASE("a fault in the hit condition is counted, told once with its place, and stops a run that was told to") {
  const std::string policy = "policy p\nhit when 1 / reward >= 1\non finish of group g { train because \"{g.hits} {g.misses}\" }\n";
  for (const bool stops : {false, true}) {
    Settings made = settings(2, 3);
    made.stop_on_fault = stops;
    auto engine = engine_of(policy, made);
    Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });  // 1 / 0 for the first of each group
    if (stops) {
      REQUIRE(engine->begin_iteration(0, prompts(2)));
      const auto stopped = engine->ended({0, 0}, {Status::Completed, 0.0, std::nullopt, "", ""});
      REQUIRE_FALSE(stopped);
      INFO(stopped.error().what);
      CHECK(stopped.error().what.find(":2: the `hit` condition faults for rollout 0 of group 0") != std::string::npos);
      continue;
    }
    const IterationReport report = driver.run(0, prompts(2));
    CHECK(report.metrics.at("policy/faults") == 2);
    const auto told = report.message.find("the `hit` condition faults for rollout 0 of group 0");
    CHECK(told != std::string::npos);
    CHECK(report.message.find("the `hit` condition faults", told + 1) == std::string::npos);
    CHECK(driver.closed.front().reason == "1 1");  // 1 / 1 is a hit, 1 / 2 a miss
  }
}

TEST_CASE("a turn with a count below 0 is refused, and nothing is changed by it") {
  auto engine = engine_of("", settings(1, 2));
  REQUIRE(engine->begin_iteration(0, prompts(1)));
  Turn turn;
  turn.action = "look";
  turn.tokens = -1;
  const auto refused = engine->turn({0, 0}, turn);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "A turn of rollout 0 of group 0 is reported with -1 tokens.");
  turn.tokens = 3;
  turn.calls = -2;
  REQUIRE_FALSE(engine->turn({0, 0}, turn));
  turn.calls = 0;
  REQUIRE(engine->turn({0, 0}, turn));
}

TEST_CASE("fault 29: a second result of the same rollout is one result") {
  auto engine = engine_of("", settings(1, 2));
  REQUIRE(engine->begin_iteration(0, {"p"}));
  REQUIRE(engine->ended({0, 0}, {Status::Completed, 1.0, std::nullopt, "", ""}));
  auto again = engine->ended({0, 0}, {Status::Completed, 0.0, std::nullopt, "", ""});
  REQUIRE(again);
  CHECK(again->closed.empty());
  REQUIRE(engine->turn({0, 0}, {}));
  REQUIRE(engine->ended({77, 0}, {}));
  REQUIRE(engine->ended({-1, -5}, {}));
  auto orders = engine->ended({0, 1}, {Status::Completed, 0.0, std::nullopt, "", ""});
  REQUIRE(orders);
  CHECK(orders->closed.front().subset == std::vector<int>{0, 1});
  auto report = engine->end_iteration();
  REQUIRE(report);
  CHECK(report->metrics.at("events/duplicate") == 2);
  CHECK(report->metrics.at("events/unknown") == 2);
  CHECK(report->metrics.at("reward/all") == 0.5);  // 1 and 0: the first result counted, the second did not
}

TEST_CASE("fault 31: a policy that is loaded and never asked is an error, unless its point could not come") {
  const std::string policy = "policy p\non turn 5 of group g { stop }\n";
  SECTION("the driver does not report turns") {
    auto engine = engine_of(policy, settings(1, 2));
    REQUIRE(engine->begin_iteration(0, {"p"}));
    REQUIRE(engine->ended({0, 0}, {Status::Completed, 1.0, std::nullopt, "", ""}));
    REQUIRE(engine->ended({0, 1}, {Status::Completed, 0.0, std::nullopt, "", ""}));
    auto report = engine->end_iteration();
    REQUIRE_FALSE(report);
    CHECK(report.error().what.find("policy p loaded, 0 decisions in iteration 0") != std::string::npos);
  }
  SECTION("every group ended before the turn") {
    auto engine = engine_of(policy, settings(1, 2));
    Driver driver(*engine, [](const std::string&, int sample) { return steady(3, sample); });
    const IterationReport report = driver.run(0, prompts(1));
    CHECK(report.message.find("0 decisions in iteration 0") != std::string::npos);
  }
  SECTION("it was asked") {
    auto engine = engine_of(policy, settings(1, 2));
    Driver driver(*engine, [](const std::string&, int sample) { return steady(9, sample); });
    CHECK(driver.run(0, prompts(1)).message.empty());
  }
}

TEST_CASE("fault 33: the set of metric names does not depend on what happened") {
  const std::string policy = R"(
policy p
hit when reward >= 1
budget 1000 rollouts per run
on turn 2 of group g {
  report seen = g.alive
  when g.tokens > 25 then stop, drop
  otherwise continue
}
)";
  std::set<std::string> names[2];
  for (const int which : {0, 1}) {
    auto engine = engine_of(policy, settings(2, 2));
    Driver driver(*engine, [&](const std::string&, int sample) { return steady(which == 0 ? 4 : 1, sample); });
    for (const auto& [name, value] : driver.run(0, prompts(2)).metrics) names[which].insert(name);
  }
  CHECK(names[0] == names[1]);
  CHECK(names[0].count("rule/7") == 1);
}

TEST_CASE("a fault of the policy gives the default, is counted and told with its place and the values read") {
  const std::string policy = R"(
policy p
param zero: tokens = 0
on turn 2 of group g {
  when g.tokens mod zero == 1 tokens then stop, drop
  otherwise continue
}
)";
  SECTION("the run goes on") {
    auto engine = engine_of(policy, settings(1, 2));
    Driver driver(*engine, [](const std::string&, int sample) { return steady(4, sample); });
    const IterationReport report = driver.run(0, prompts(1));
    CHECK(driver.closed.front().fate == Fate::Trained);
    CHECK(report.metrics.at("policy/faults") == 1);
    CHECK(report.message.find("test.allot:5") != std::string::npos);
    CHECK(report.message.find("division by zero") != std::string::npos);
    CHECK(report.message.find("g.tokens = 40") != std::string::npos);  // 2 rollouts, 2 turns, 10 tokens
  }
  SECTION("it stops when asked to") {
    Settings strict = settings(1, 1);
    strict.stop_on_fault = true;
    auto engine = engine_of(policy, strict);
    REQUIRE(engine->begin_iteration(0, {"p"}));
    REQUIRE(engine->turn({0, 0}, {}));
    auto orders = engine->turn({0, 0}, {});
    REQUIRE_FALSE(orders);
    CHECK(orders.error().what.find("division by zero") != std::string::npos);
    CHECK_FALSE(engine->end_iteration());
  }
}

TEST_CASE("hits read the environment's own reward where there is one") {
  auto engine = engine_of(R"(
policy p
hit when reward >= 1
on finish of group g { report hits = g.hits
  train }
)", settings(1, 2));
  Driver driver(*engine, [](const std::string&, int sample) {
    Course course = steady(1, sample == 0 ? 0.7 : 1.3);   // shaped
    course.raw_reward = sample == 0 ? 1.0 : 0.0;          // won, lost
    return course;
  });
  CHECK(driver.run(0, prompts(1)).metrics.at("report/hits") == 1);
}

TEST_CASE("an iteration that is out of order is an error, not a wrong count") {
  auto engine = engine_of("", settings(1, 1));
  CHECK_FALSE(engine->end_iteration());
  REQUIRE(engine->begin_iteration(0, {"p"}));
  CHECK_FALSE(engine->begin_iteration(1, {"p"}));
  CHECK_FALSE(engine->end_iteration());  // a rollout still runs
  REQUIRE(engine->ended({0, 0}, {Status::Completed, 1.0, std::nullopt, "", ""}));
  CHECK(engine->end_iteration());
  const std::string state = engine->save_state();
  for (const int backwards : {0, -1, -7}) CHECK(engine->begin_iteration(backwards, {"p"}).error().what.find("count up") != std::string::npos);
  REQUIRE(engine->begin_iteration(4, {"p"}));  // some may be left out
  REQUIRE(engine->ended({1, 0}, {Status::Completed, 1.0, std::nullopt, "", ""}));
  REQUIRE(engine->end_iteration());
  CHECK_FALSE(engine->begin_iteration(3, {"p"}));
  const auto restored = engine->restore(state);
  if (!restored) FAIL(restored.error().text());
  CHECK(engine->begin_iteration(1, {"p"}));  // the state of then goes on from then
}

TEST_CASE("fault 4: a gate on the shaped reward, where a raw one exists, is warned of with its place") {
  Settings shaped = settings(1, 2);
  shaped.has_raw_reward = true;
  const auto message_of = [&](const std::string& condition) {
    auto engine = engine_of("policy p\non finish of group g {\n  when " + condition + " then drop\n  otherwise train\n}\n", shaped);
    Driver driver(*engine, [](const std::string&, int sample) {
      Course course = steady(1, -0.1 * sample);
      course.raw_reward = 0;
      return course;
    });
    return driver.run(0, prompts(1)).message;
  };
  CHECK(message_of("g.flat").find("test.allot:3") != std::string::npos);
  CHECK(message_of("(max(g.raw_rewards) ?? 0) == 0.0").empty());
}
