// The budget through the whole engine: it holds after every event, on every path, and what it cut is said.
#include <algorithm>
#include <memory>

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

void watch(Driver& driver, const LiveEngine& engine) {
  driver.after_event = [&engine] {
    for (const Account& account : engine.ledger().accounts()) {
      REQUIRE(account.reserved + account.spent <= account.total);
      REQUIRE(account.reserved >= 0);
    }
    REQUIRE(engine.ledger().conservation().holds());
  };
}

}  // namespace

TEST_CASE("a request that the budget cannot cover is cut from the last slot backwards, counted and told") {
  auto engine = engine_of("policy p\nbudget 10 rollouts per iteration\non finish of group g { train }\n", settings(4, 4));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(2, sample); });
  watch(driver, *engine);
  const IterationReport report = driver.run(0, prompts(4));
  std::vector<int> counts;
  for (const Start& start : driver.starts) counts.push_back(start.count);
  CHECK(counts == std::vector<int>{4, 4, 2});
  CHECK(engine->unused_prompts() == std::vector<std::string>{"p3"});
  // 16 were planned. The third group asks again for its 2 when its wave is over: they are the same two.
  CHECK(report.metrics.at("budget/starts_cut") == 6);
  CHECK(report.message.find("6 of 16 rollouts could not be started and 0 were ended early. The first time 10 of 10 rollouts "
                            "were started.") != std::string::npos);
  CHECK(driver.run(1, prompts(4)).metrics.at("rollouts/started") == 10);  // a new iteration, a new budget
}

// Three groups of four are planned. Five rollouts hold the five calls; when they end without a call the second group gets
// what it lacks, a few at a time, and asks again each time.
TEST_CASE("what is reserved and not used is told, and who asks twice for the same rollouts is counted once") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    auto engine = engine_of("policy p\nbudget 5 calls per iteration\non finish of group g { train }\n", settings(3, 4));
    Driver driver(*engine, [](const std::string&, int sample) { return steady(2, sample); }, seed);
    watch(driver, *engine);
    const IterationReport report = driver.run(0, prompts(3));
    const double started = report.metrics.at("rollouts/started");
    CHECK(started >= 5);
    CHECK(started <= 8);
    CHECK(report.metrics.at("budget/starts_cut") == 12 - started);
    CHECK(report.metrics.at("budget/calls/iteration/left") == 5);
    CHECK(report.message.find(fmt::format("budget: {} of 12 rollouts could not be started and 0 were ended early. The first time "
                                          "5 of 5 calls were reserved by open rollouts, 1 each for the next turn, and 0 spent; "
                                          "what a rollout does not use comes back", 12 - started)) != std::string::npos);
  }
}

TEST_CASE("tokens are reserved a turn at a time; who cannot be covered is stopped, and the rest is trained on") {
  // 2 · 4 rollouts reserve 16 each: 128. Each turn writes 16, so 400 tokens last for 25 turns.
  auto engine = engine_of("policy p\nbudget 400 tokens per run\non finish of group g { train }\n", settings(2, 4));
  Driver driver(*engine, [](const std::string&, int sample) {
    Course course = steady(10, 1.0 * sample);
    course.tokens = 16;
    return course;
  }, 3);
  watch(driver, *engine);
  const IterationReport report = driver.run(0, prompts(2));
  CHECK(driver.turns == 25);
  CHECK(report.metrics.at("budget/stopped") == driver.stops.size());
  CHECK(report.metrics.at("budget/tokens/run/spent") == 400);
  CHECK(report.metrics.at("budget/tokens/run/left") == 0);
  CHECK(report.message.find("budget") != std::string::npos);
  auto after = engine->begin_iteration(1, prompts(2));
  REQUIRE(after);
  CHECK(after->start.empty());
  CHECK(after->batch_closed);
}

TEST_CASE("a stop gives its reservation back: the refill can use it") {
  // 8 rollouts a group; 24 rollouts would be three groups. A group that is stopped before its first turn costs none.
  auto engine = engine_of(R"(
policy p
budget 12 rollouts per run
refill at most 3 rounds then train_partial
on turn 1 of group g {
  when g.round == 1 then stop, drop, refill
  otherwise continue
}
)", settings(1, 4));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(3, sample); });
  watch(driver, *engine);
  const IterationReport report = driver.run(0, prompts(3));
  CHECK(report.trained.size() == 1);
  CHECK(report.metrics.at("budget/rollouts/run/spent") == 8);
}

TEST_CASE("under every policy, order and budget the ledger holds after every event") {
  const char* const policies[] = {
      "on turn 2 of group g { when g.alive > 2 then stop, drop, refill\n otherwise continue }",
      "on result of group g { when g.scored >= 2 then stop\n otherwise continue }",
      "on size of batch b { start 2 each, up to 5 }\non wave of group g { sample 1 more }",
      "on finish of group g { when g.flat then drop, refill\n otherwise train }",
      "on turn 1 of group g { stop where r.sample > 1 }"};
  int seed = 0;
  for (const char* const policy : policies) {
    for (const std::string budget : {"37 rollouts per run", "900 tokens per run", "19 calls per iteration",
                                     "25 rollouts per iteration, carry over"}) {
      auto engine = engine_of(fmt::format("policy p\nbudget {}\nrefill at most 3 rounds then train_partial\n{}\n", budget,
                                          policy), settings(3, 4));
      Driver driver(*engine, [](const std::string& prompt, int sample) {
        Course course = steady(1 + (sample + prompt.back()) % 4, sample % 2 == 0 ? 1.0 : prompt.back() % 2 + 0.0);
        course.tokens = 3 + sample;
        course.calls = sample % 2;
        if (sample == 3) course.status = Status::Error, course.reward.reset();
        return course;
      }, static_cast<std::uint64_t>(++seed));
      watch(driver, *engine);
      for (int iteration = 0; iteration < 4; ++iteration) driver.run(iteration, prompts(9));
      for (const Account& account : engine->ledger().accounts()) CHECK(account.reserved == 0);
      CHECK(engine->ledger().conservation().in_flight == 0);
    }
  }
}

namespace {

// What is left of 10 seconds after three events at these times of the engine's clock (the first is the iteration's begin).
double left_after(const std::vector<double>& times) {
  auto at = std::make_shared<std::size_t>(0);
  Settings made = settings(1, 2);
  made.clock = [at, times] { return times[std::min(*at, times.size() - 1)]; };
  auto engine = engine_of("policy p\nbudget 10 seconds per iteration\non finish of group g { train }\n", made);
  REQUIRE(engine->begin_iteration(0, {"p0"}));
  for (int sample = 0; sample < 2; ++sample) {
    ++*at;
    REQUIRE(engine->ended({0, sample}, {Status::Completed, 1.0, std::nullopt, "", ""}));
  }
  return engine->ledger().account(lang::BaseUnit::Seconds)->left();
}

}  // namespace

TEST_CASE("seconds are charged by the engine's clock: going back is no time, a jump forward is what it says") {
  CHECK(left_after({100, 101, 103}) == 7);        // 1 + 2
  CHECK(left_after({100, 40, 43}) == 7);          // back by 60: nothing; then 3
  CHECK(left_after({100, 100, 100}) == 10);
  CHECK(left_after({100, 3700, 3700}) < 0);       // an hour: the budget is over, and says so
}
