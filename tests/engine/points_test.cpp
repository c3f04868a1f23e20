// When each point comes, and what a verdict does to the group. Expectations follow language.md §3, "How it runs".
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

const char* const selective = R"(
policy selective_rollout
param at: turns = 10
param threshold: real = 0.12 in 0..1
on turn at of group g {
  let divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, at, padded))
  when (divergence ?? 1.0) < threshold
    then stop, drop because "converged: divergence {divergence}"
  otherwise continue
}
)";

Course differing(int turns, int sample, std::optional<double> reward) {
  Course course;
  for (int turn = 0; turn < turns; ++turn) course.actions.push_back(fmt::format("go {}", sample * 100 + turn));
  course.reward = reward;
  return course;
}

}  // namespace

TEST_CASE("without a policy every group runs to its end and is trained on") {
  auto engine = engine_of("", settings(2, 3));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(4, sample); });
  const IterationReport report = driver.run(0, prompts(2));
  CHECK(report.trained == std::vector<int>{0, 1});
  CHECK(driver.closed.front().subset == std::vector<int>{0, 1, 2});
  CHECK(driver.holds == 0);
  CHECK(report.metrics.at("turns") == 24);  // 2 groups, 3 rollouts, 4 turns
}

TEST_CASE("a converged group is stopped at the turn, once, and dropped with its reason") {
  auto engine = engine_of(selective, settings(2, 4));
  Driver driver(*engine, [](const std::string& prompt, int sample) {
    return prompt == "p0" ? steady(20, 1.0) : differing(20, sample, 1.0);
  });
  const IterationReport report = driver.run(0, prompts(2));
  CHECK(report.trained == std::vector<int>{1});
  const auto places = driver.by_place();
  const GroupResult& stopped = places.at("0/1");
  CHECK(stopped.fate == Fate::Dropped);
  CHECK(stopped.reason == "converged: divergence 0");
  CHECK(stopped.rule == "test.allot:7");
  CHECK(stopped.gate.asked);
  CHECK(stopped.gate.stop);
  CHECK(stopped.gate.carried_out);
  CHECK_FALSE(stopped.gate.late);
  CHECK_FALSE(places.at("1/1").gate.stop);
  CHECK(driver.turns == 4 * 10 + 4 * 20);  // no rollout of the stopped group took an eleventh turn
  CHECK(driver.stops.size() == 4);
}

TEST_CASE("the threshold of the paper's worked example is met exactly") {
  // allocation.md §3: two clusters of four that differ in m of 10 actions have d = (16/28)(m/10):
  // m = 2 gives 0.114… < 0.12, a cut; m = 3 gives 0.171…, kept.
  for (const int differing_actions : {2, 3}) {
    auto engine = engine_of(selective, settings(1, 8));
    Driver driver(*engine, [&](const std::string&, int sample) {
      Course course = steady(15, 1.0);
      for (int turn = 0; turn < differing_actions && sample >= 4; ++turn) {
        course.actions[static_cast<std::size_t>(turn)] = fmt::format("other {}", turn);
      }
      return course;
    });
    driver.run(0, prompts(1));
    CHECK(driver.closed.front().gate.stop == (differing_actions == 2));
  }
}

TEST_CASE("a turn point does not come when nobody is live: it is asked late and changes nothing") {
  auto engine = engine_of(selective, settings(1, 4));
  Driver driver(*engine, [](const std::string&, int) { return steady(10, 1.0); });  // all end with turn 10
  const IterationReport report = driver.run(0, prompts(1));
  const GroupResult& result = driver.closed.front();
  CHECK(result.gate.asked);
  CHECK(result.gate.stop);
  CHECK(result.gate.late);
  CHECK_FALSE(result.gate.carried_out);
  CHECK(result.fate == Fate::Trained);
  CHECK(result.subset.size() == 4);
  CHECK(driver.stops.empty());
  CHECK(report.metrics.at("gate/late") == 1);
}

TEST_CASE("a rollout that ended with its turn N keeps its score when its siblings are stopped there") {
  auto engine = engine_of(R"(
policy p
on turn 3 of group g { stop }
)", settings(1, 2));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(sample == 0 ? 3 : 9, 1.0); });
  driver.run(0, prompts(1));
  const GroupResult& result = driver.closed.front();
  CHECK(result.fate == Fate::Trained);  // stop without drop: finish follows, on what is scored
  CHECK(result.subset == std::vector<int>{0});
  CHECK(driver.stops.size() == 1);
}

TEST_CASE("an error before the turn is left out, and the point still comes for the others") {
  auto engine = engine_of(selective, settings(1, 4));
  Driver driver(*engine, [](const std::string&, int sample) {
    if (sample != 0) return steady(20, 1.0);
    Course broken = steady(2, std::nullopt, "crash");
    broken.status = Status::Error;
    return broken;
  });
  driver.run(0, prompts(1));
  CHECK(driver.closed.front().gate.carried_out);  // the three others are equal
}

TEST_CASE("rollouts ahead of a turn point are held until their siblings have come") {
  for (std::uint64_t order = 0; order < 20; ++order) {
    auto engine = engine_of(selective, settings(1, 4));
    Driver driver(*engine, [](const std::string&, int sample) { return differing(12, sample, 1.0); }, order);
    driver.run(0, prompts(1));
    CHECK(driver.holds == 3);  // all but the last to arrive
  }
}

TEST_CASE("the most specific of several turn handlers answers, and each numbered one comes once") {
  auto engine = engine_of(R"(
policy p
on turn 2 of group g { report two = 1
  continue }
on every turn of group g { report every = g.turn
  continue }
)", settings(1, 2));
  Driver driver(*engine, [](const std::string&, int sample) { return differing(5, sample, 1.0); });
  const IterationReport report = driver.run(0, prompts(1));
  // Turns 1, 3 and 4: turn 5 is everybody's last, so nobody is live there. (1 + 3 + 4) / 3.
  CHECK(report.metrics.at("report/every") == Approx(8.0 / 3));
  CHECK(report.metrics.at("report/two") == 1);
}

TEST_CASE("waves go on until one starts nothing; the size is clamped and counted") {
  auto engine = engine_of(R"(
policy p
on size of batch b { start 2 each, up to 5 }
on wave of group g {
  when g.started >= 5 then sample 4 more
  otherwise sample 2 more
}
)", settings(1, 8));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
  const IterationReport report = driver.run(0, prompts(1));
  std::vector<int> counts;
  for (const Start& start : driver.starts) counts.push_back(start.count);
  CHECK(counts == std::vector<int>{2, 2, 1});
  CHECK(report.metrics.at("waves") == 3);
  CHECK(report.metrics.at("verdicts/clamped") == 2);  // the third asked for 2 of 1, the last for 4 of 0
}

TEST_CASE("without a wave handler a group is completed to the `up to` of its start") {
  auto engine = engine_of(R"(
policy p
on size of batch b { start 2 each, up to 5 }
)", settings(1, 8));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
  driver.run(0, prompts(1));
  CHECK(driver.closed.front().subset.size() == 5);
}

TEST_CASE("result comes for each score, the last one before the wave; a stop there leaves what is scored") {
  auto engine = engine_of(R"(
policy p
hit when reward >= 1
on result of group g {
  when g.hits >= 2 then stop
  otherwise continue
}
)", settings(1, 6));
  Driver driver(*engine, [](const std::string&, int) { return steady(3, 1.0); }, 7);
  driver.run(0, prompts(1));
  const GroupResult& result = driver.closed.front();
  CHECK(result.fate == Fate::Trained);
  CHECK(result.subset.size() + driver.stops.size() == 6);
  CHECK(result.subset.size() >= 2);
}

TEST_CASE("a result that starts rollouts makes the wave wait for them") {
  auto engine = engine_of(R"(
policy p
on size of batch b { start 1 each, up to 3 }
on result of group g { sample 1 more }
on wave of group g { stop }
)", settings(1, 8));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
  const IterationReport report = driver.run(0, prompts(1));
  CHECK(driver.closed.front().subset.size() == 3);
  CHECK(report.metrics.at("waves") == 1);
}

TEST_CASE("stop where ends those alone") {
  auto engine = engine_of(R"(
policy p
on turn 2 of group g { stop where r.sample >= 2 }
)", settings(1, 4));
  Driver driver(*engine, [](const std::string&, int sample) { return differing(4, sample, sample); });
  driver.run(0, prompts(1));
  CHECK(driver.closed.front().subset == std::vector<int>{0, 1});
  CHECK(driver.stops.size() == 2);
}

TEST_CASE("a drop is final, a later train does not undo it") {
  auto engine = engine_of(R"(
policy p
on turn 1 of group g { drop because "early" }
on finish of group g { train }
)", settings(1, 2));
  Driver driver(*engine, [](const std::string&, int sample) { return differing(3, sample, sample); });
  driver.run(0, prompts(1));
  CHECK(driver.closed.front().fate == Fate::Dropped);
  CHECK(driver.closed.front().reason == "early");
  CHECK(driver.stops.empty());  // drop alone lets them run
}

TEST_CASE("a subset is ascending, scored, and what cannot be trained on is counted") {
  auto engine = engine_of(R"(
policy p
on finish of group g { train [3, 0, 1], normalize over group }
)", settings(1, 4));
  Driver driver(*engine, [](const std::string&, int sample) {
    return steady(1, sample == 1 ? std::nullopt : std::optional<double>(sample));
  });
  const IterationReport report = driver.run(0, prompts(1));
  CHECK(driver.closed.front().subset == std::vector<int>{0, 3});
  CHECK(driver.closed.front().normalize == NormalizeOver::Group);
  CHECK(report.metrics.at("verdicts/left_out") == 1);
}

TEST_CASE("a turn beyond the run's limit is refused when the run binds it") {
  auto late = LiveEngine::create(settings(1, 2, 9), bench::policy_of(selective));
  REQUIRE_FALSE(late);
  CHECK(late.error().what.find("turn 10") != std::string::npos);
  CHECK(LiveEngine::create(settings(1, 2, 10), bench::policy_of(selective)));
}
