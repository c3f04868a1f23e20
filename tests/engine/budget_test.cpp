// The budget through the whole engine: it holds after every event, on every path, and what it cut is said.
#include <algorithm>
#include <memory>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/story.h"
#include "tests/engine/bench.h"
#include "tests/engine/swapping.h"
#include "tests/folder.h"

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

// Two groups of four an iteration: 8, then the 2 that are left of 10.
TEST_CASE("a budget of the run that covers nothing any more is told once, as it comes to that") {
  auto engine = engine_of("policy p\nbudget 10 rollouts per run\non finish of group g { train }\n", settings(2, 4));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(2, sample); });
  const std::string told = "the budget of the run is used up: 10 of 10 rollouts.";
  CHECK(engine->used_up().empty());
  CHECK(driver.run(0, prompts(2)).message.find("used up") == std::string::npos);
  CHECK(engine->used_up().empty());
  CHECK(driver.run(1, prompts(2)).message.find(told) != std::string::npos);
  CHECK(engine->used_up() == "10 of 10 rollouts");
  const IterationReport empty = driver.run(2, prompts(2));
  CHECK(empty.metrics.at("rollouts/started") == 0);
  CHECK(empty.message.find("used up") == std::string::npos);
}

TEST_CASE("a budget is not used up while a group waits, in shadow, or where it is one of iterations") {
  const std::string waits = "policy p\nbudget 4 rollouts per run\non size of batch b { start 2 each, up to 4 }\n"
                            "on wave 1 of group g { defer at most 2 iterations }\non resume of group g by g.age { complete to 4 }\n";
  Settings deferring = settings(2, 2);
  deferring.host.defers = true;
  auto engine = engine_of(waits, deferring);
  Driver driver(*engine, [](const std::string&, int sample) { return steady(2, sample); });
  driver.run(0, prompts(2));
  REQUIRE(driver.deferred.size() == 2);  // all four rollouts are spent, and both groups are still to be trained on
  CHECK(engine->used_up().empty());
  CHECK(driver.run(1, prompts(2)).trained.size() == 2);
  CHECK(engine->used_up() == "4 of 4 rollouts");

  const std::string train = "\non finish of group g { train }\n";
  Settings silent = settings(2, 4);
  silent.shadow = true;
  for (auto& [text, made] : {std::pair("policy p\nbudget 4 rollouts per run", silent),
                             std::pair("policy p\nbudget 4 rollouts per iteration", settings(2, 4))}) {
    auto other = engine_of(text + train, made);
    Driver(*other, [](const std::string&, int sample) { return steady(2, sample); }).run(0, prompts(2));
    CHECK(other->used_up().empty());
  }
}

// Each of four rollouts has a first turn of 16 of the 100 tokens reserved, and takes 500: 2000, 1900 more than there are.
TEST_CASE("what a host takes beyond a budget is told, and so is that the budget decided") {
  const test::Folder folder;
  Settings made = settings(1, 4);
  made.run_folder = folder.path() / "run";
  auto engine = engine_of("policy p\nbudget 100 tokens per run\non finish of group g { train }\n", made);
  Driver driver(*engine, [](const std::string&, int sample) {
    Course course = steady(3, sample);
    course.tokens = 500;
    return course;
  });
  const IterationReport report = driver.run(0, prompts(1));
  CHECK(report.message.find("budget: 4 turns took more than was reserved: 1900 tokens beyond the 100 per run.") != std::string::npos);
  CHECK(report.message.find("the budget of the run is used up: 2000 of 100 tokens.") != std::string::npos);
  REQUIRE(driver.closed.size() == 1);
  CHECK(driver.closed[0].fate == Fate::Dropped);
  CHECK(driver.closed[0].rule.empty());  // it said `train`
  const auto story = tell_group(made.run_folder, 0, StoryFormat::Words);
  REQUIRE(story);
  CHECK(story->find("fate: dropped because no rollout was scored, for the budget did not cover all of its rollouts and turns") !=
        std::string::npos);
  CHECK(driver.run(1, prompts(1)).message.find("took more") == std::string::npos);
}

// Two rollouts an iteration, each with one turn of 20 tokens where 16 are reserved.
TEST_CASE("turns beyond what was reserved count over the run, through a resume and a swap of the budget") {
  const auto budget = [](int tokens) { return fmt::format("policy p\nbudget {} tokens per run\non finish of group g {{ train }}\n", tokens); };
  const auto play = [](LiveEngine& engine, int iteration) {
    Driver driver(engine, [](const std::string&, int sample) {
      Course course = steady(1, sample);
      course.tokens = 20;
      return course;
    });
    return driver.run(iteration, prompts(1)).metrics.at("budget/overruns");
  };
  auto first = swapping::engine_of(budget(1000), settings(1, 2));
  CHECK(play(*first, 0) == 2);
  auto engine = swapping::engine_of(budget(1000), settings(1, 2));
  REQUIRE(engine->restore(first->save_state()));
  CHECK(play(*engine, 1) == 4);
  REQUIRE(engine->swap(swapping::request_of(budget(2000))).outcome == SwapOutcome::Active);
  CHECK(play(*engine, 2) == 6);
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
