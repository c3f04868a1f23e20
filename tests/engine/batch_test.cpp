// Filling the batch: slots, rounds, refill and what happens when it gives up. Faults are those of faults.md A and B.
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

std::string dynamic_sampling(const std::string& fallback, int rounds = 5) {
  return fmt::format(R"(
policy dynamic_sampling
refill at most {} rounds then {}
on finish of group g {{
  when g.flat or g.scored < 2 then drop, refill because "{{g.scored}} scored, no spread"
  otherwise train
}}
)", rounds, fallback);
}

Course mixed(int sample) { return steady(2, sample % 2); }
Course failing() { return steady(2, 0.0); }

}  // namespace

TEST_CASE("fault 13: a model too weak for its data ends after exactly the declared rounds, with the declared fallback") {
  for (const std::string fallback : {"train_partial", "skip_update", "abort"}) {
    auto engine = engine_of(dynamic_sampling(fallback), settings(8, 4));
    Driver driver(*engine, [](const std::string&, int) { return failing(); });
    const IterationReport report = driver.run(0, prompts(100));
    CHECK(report.metrics.at("rollouts/started") == 160);  // 8 groups of 4, 5 rounds
    CHECK(report.rounds == 5);
    CHECK(report.skip_update);
    CHECK(report.aborted == (fallback == "abort"));
    CHECK(report.trained.empty());
    CHECK(report.message.find("0/40 groups were kept (40 prompts seen)") != std::string::npos);
    CHECK(report.message.find(fallback) != std::string::npos);
    CHECK(engine->unused_prompts().size() == 60);
  }
}

TEST_CASE("a fallback applies to what is open, not to what was found") {
  // Slot 0 finds a mixed prompt in its first round, slot 1 never does.
  for (const std::string fallback : {"train_partial", "skip_update"}) {
    auto engine = engine_of(dynamic_sampling(fallback, 2), settings(2, 4));
    Driver driver(*engine, [](const std::string& prompt, int sample) {
      return prompt == "p0" ? mixed(sample) : failing();
    });
    const IterationReport report = driver.run(0, prompts(8));
    CHECK(report.trained.size() == (fallback == "train_partial" ? 1 : 0));
    CHECK(report.skip_update == (fallback == "skip_update"));
  }
}

TEST_CASE("fault 17: one rejected group starts one more prompt, not a new batch") {
  auto engine = engine_of(dynamic_sampling("train_partial"), settings(8, 4));
  Driver driver(*engine, [](const std::string& prompt, int sample) {
    return prompt == "p3" ? failing() : mixed(sample);
  });
  const IterationReport report = driver.run(0, prompts(40));
  CHECK(driver.starts.size() == 9);
  CHECK(driver.starts.back().prompt == "p11");  // the prompt of slot 3 in round 2: (2 − 1) · 8 + 3
  CHECK(report.trained.size() == 8);
  CHECK(engine->unused_prompts().size() == 40 - 9);
}

TEST_CASE("which prompt a slot gets in which round does not depend on which group ends first") {
  std::map<std::string, std::string> first;
  for (std::uint64_t order = 0; order < 30; ++order) {
    auto engine = engine_of(dynamic_sampling("train_partial"), settings(4, 4));
    Driver driver(*engine, [](const std::string& prompt, int sample) {
      return (prompt.back() - '0') % 3 == 0 ? failing() : mixed(sample);
    }, order);
    driver.run(0, prompts(40));
    std::map<std::string, std::string> places;
    for (const auto& [place, result] : driver.by_place()) places[place] = result.prompt;
    if (order == 0) first = places;
    CHECK(places == first);
  }
}

TEST_CASE("a drop without refill shrinks the batch; a batch without a group skips the update") {
  const std::string policy = R"(
policy p
on finish of group g {
  when g.flat then drop
  otherwise train
}
)";
  auto engine = engine_of(policy, settings(3, 4));
  Driver driver(*engine, [](const std::string& prompt, int sample) {
    return prompt == "p1" ? mixed(sample) : failing();
  });
  const IterationReport some = driver.run(0, prompts(9));
  CHECK(some.trained.size() == 1);
  CHECK_FALSE(some.skip_update);
  CHECK(driver.starts.size() == 3);
  auto none = engine_of(policy, settings(3, 4));
  Driver empty(*none, [](const std::string&, int) { return failing(); });
  const IterationReport report = empty.run(0, prompts(9));
  CHECK(report.skip_update);
  CHECK(report.metrics.at("batch/skip_update") == 1);
}

TEST_CASE("fault 21: when every rollout failed nothing is trained on") {
  auto engine = engine_of("", settings(1, 4));
  Driver driver(*engine, [](const std::string&, int) {
    Course course = steady(1, std::nullopt);
    course.status = Status::Error;
    return course;
  });
  const IterationReport report = driver.run(0, prompts(1));
  CHECK(report.trained.empty());
  CHECK(report.skip_update);
  CHECK(driver.closed.front().subset.empty());
  CHECK(driver.closed.front().reason == "no rollout was scored: 4 × error");
}

TEST_CASE("fewer prompts than slots: what there is, is opened") {
  auto engine = engine_of("", settings(4, 2));
  Driver driver(*engine, [](const std::string&, int sample) { return mixed(sample); });
  CHECK(driver.run(0, prompts(2)).trained.size() == 2);
  auto refilling = engine_of(dynamic_sampling("train_partial"), settings(2, 2));
  Driver out(*refilling, [](const std::string&, int) { return failing(); });
  const IterationReport report = out.run(0, prompts(5));
  CHECK(out.starts.size() == 5);
  CHECK(report.message.find("no further prompts") != std::string::npos);
  // No prompt at all is an iteration that is over at once.
  auto orders = engine->begin_iteration(1, {});
  REQUIRE(orders);
  CHECK(orders->batch_closed);
  CHECK(engine->end_iteration());
}

TEST_CASE("one prompt twice has one state, and `start 0 each` gives every prompt back to the pool") {
  auto engine = engine_of(R"(
policy p
state seen: rollouts per prompt = 0
on size of batch b { start 2 each, up to 3 }
on update of batch b {
  for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + g.started }
  report groups = b.size
}
)", settings(2, 8));
  Driver driver(*engine, [](const std::string&, int sample) { return mixed(sample); });
  const IterationReport report = driver.run(0, {"a", "a"});  // one prompt twice: its state has one cell
  CHECK(report.metrics.at("report/groups") == 2);
  CHECK(report.metrics.at("rollouts/started") == 6);
  auto nothing = engine_of("policy p\nparam n: rollouts = 0\non size of batch b { start n each }\n", settings(2, 8));
  auto orders = nothing->begin_iteration(0, {"a", "b", "c"});
  REQUIRE(orders);
  CHECK(orders->batch_closed);
  REQUIRE(nothing->end_iteration());
  CHECK(nothing->unused_prompts() == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("fault 34: what was generated and what was trained on are two curves") {
  auto engine = engine_of(R"(
policy p
on finish of group g {
  when g.flat then drop
  otherwise train
}
)", settings(3, 2));
  Driver driver(*engine, [](const std::string& prompt, int sample) {
    if (prompt == "p0") return steady(1, 0.1);
    if (prompt == "p1") return steady(1, 0.9);
    return steady(1, sample == 0 ? 0.0 : 0.4);
  });
  const IterationReport report = driver.run(0, prompts(3));
  CHECK(report.metrics.at("reward/all") == Approx(0.4).epsilon(1e-12));
  CHECK(report.metrics.at("reward/trained") == Approx(0.2).epsilon(1e-12));
  CHECK(report.metrics.at("groups/acceptance") == Approx(1.0 / 3).epsilon(1e-12));
}

TEST_CASE("fault 11: a dropped group's tokens are dead, in no numerator and no denominator") {
  auto engine = engine_of(R"(
policy p
on finish of group g {
  when g.flat then drop
  otherwise train
}
)", settings(4, 2));
  Driver driver(*engine, [](const std::string& prompt, int sample) {
    return prompt == "p1" || prompt == "p3" ? steady(1, 0.0) : steady(1, sample);  // 10 tokens a row
  });
  const IterationReport report = driver.run(0, prompts(4));
  CHECK(report.metrics.at("tokens/effective") == 40);
  CHECK(report.metrics.at("tokens/dead") == 40);
}
