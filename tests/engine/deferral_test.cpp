// Groups that wait for a later round or iteration: who is taken up, in which order, and what becomes of the rest.
#include <algorithm>

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

// Pilot-Commit as the design of the language writes it, in small.
std::string pilot_commit(int rounds, int limit) {
  return fmt::format(R"(
policy pilot_commit
param pilot: rollouts = 2
param total: rollouts = 4
hit when reward >= 1.0
refill at most {} rounds then train_partial
state looks: int per group = 0

on select of pool p {{ take 2 * p.slots }}
on size of batch b {{ start pilot each, up to total }}
on wave 1 of group g {{
  let rate = g.hit_rate ?? 0
  remember looks = looks + 1
  when rate >= 1.0 then stop, drop, refill, evict until epoch + 1
  when rate <= 0 then stop, drop, refill because "pilot rate {{rate}}"
  otherwise defer at most {} iterations, refill
}}
on resume of group g by -(g.reward_std ?? 0), g.age {{ complete to total }}
on finish of group g {{
  remember looks = looks + 10
  report looks = looks
  otherwise train
}}
)", rounds, limit);
}

// "hit…": every rollout hits; "miss…": none does; "wide…": rewards 0 and 2; others: 0 and 1.
Course course_of(const std::string& prompt, int sample) {
  if (prompt.starts_with("hit")) return steady(2, 1.0);
  if (prompt.starts_with("miss")) return steady(2, 0.0);
  const double most = prompt.starts_with("wide") ? 2.0 : 1.0;
  return steady(1 + sample, sample % 2 == 0 ? 0.0 : most);
}

struct Told {
  std::vector<std::string> groups;
  std::vector<std::map<std::string, double>> metrics;
};

void play(LiveEngine& engine, int from, int to, Told& told, std::uint64_t order = 0) {
  for (int iteration = from; iteration < to; ++iteration) {
    Driver driver(engine, course_of, order + static_cast<std::uint64_t>(iteration));
    driver.after_event = [&] {
      if (!engine.ledger().conservation().holds()) FAIL("rollouts were lost");
    };
    told.metrics.push_back(driver.run(iteration, {"hit0", "mid0", "miss0", "wide0", "mid1", "miss1", "wide1", "mid2"}).metrics);
    std::vector<std::string> closed;
    for (const GroupResult& result : driver.closed) {
      closed.push_back(fmt::format("{} {} {}/{} {}", result.group, result.prompt, result.slot, result.round,
                                   static_cast<int>(result.fate)));
    }
    std::sort(closed.begin(), closed.end());
    told.groups.insert(told.groups.end(), closed.begin(), closed.end());
  }
}

}  // namespace

TEST_CASE("pilots are deferred and the best of them taken up in the next round of the same iteration") {
  auto engine = engine_of(pilot_commit(3, 4), settings(2, 8));
  Driver driver(*engine, course_of);
  const IterationReport report = driver.run(0, {"hit0", "mid0", "miss0", "wide0", "mid1", "miss1"});
  // Four pilots of two; of the two mixed ones both fill the two slots and are completed to four.
  CHECK(report.metrics.at("rollouts/started") == 4 * 2 + 2 * 2);
  CHECK(report.metrics.at("groups/deferred") == 2);
  CHECK(report.metrics.at("groups/resumed") == 2);
  CHECK(report.metrics.at("groups/trained") == 2);
  REQUIRE(report.trained.size() == 2);
  CHECK(report.trained == std::vector<int>{3, 1});  // wide0 has the greater spread and takes the first place
  CHECK(driver.deferred.size() == 2);
  CHECK(driver.starts.at(4).first == 2);  // samples go on where the pilot ended
  CHECK(engine->unused_prompts() == std::vector<std::string>{"mid1", "miss1"});  // in nobody's hands
  CHECK(report.metrics.at("report/looks") == 1);  // state per group stays with it: what `wave 1` wrote before it waited
  CHECK(engine->ledger().conservation().accepted == 8);
  CHECK(engine->ledger().conservation().dropped == 4);
}

TEST_CASE("what was not taken up waits, comes first in the next iteration, and keeps its prompt from being drawn") {
  auto engine = engine_of(pilot_commit(1, 4), settings(1, 8));  // one round: nobody is taken up in the first iteration
  Driver first(*engine, course_of);
  const IterationReport none = first.run(0, {"mid0", "wide0", "mid1"});
  CHECK(none.skip_update);
  CHECK(none.metrics.at("groups/waiting") == 2);
  CHECK(engine->ledger().conservation().deferred == 4);
  Driver second(*engine, course_of);
  const IterationReport report = second.run(1, {"mid0", "wide0", "mid1"});
  REQUIRE(second.closed.size() == 1);
  CHECK(second.closed.front().prompt == "wide0");
  CHECK(second.closed.front().group == 1);
  CHECK(second.closed.front().subset == std::vector<int>{0, 1, 2, 3});
  CHECK(second.closed.front().iterations == std::vector<int>{0, 0, 1, 1});  // its pilots are of the older weights
  CHECK(second.starts.size() == 1);  // mid0 waits, so it cannot be drawn; the one slot is taken, so nothing fresh comes
  CHECK(report.metrics.at("groups/waiting") == 1);
  CHECK(engine->ledger().conservation().holds());
}

TEST_CASE("at its age limit a group that nobody took up is dropped") {
  auto engine = engine_of(pilot_commit(1, 1), settings(1, 8));
  Driver first(*engine, course_of);
  first.run(0, {"mid0", "mid1"});
  Driver second(*engine, course_of);
  const IterationReport report = second.run(1, {"miss0", "miss1"});
  REQUIRE(second.closed.size() == 2);
  CHECK(second.closed.front().prompt == "mid0");  // equal keys: the older one
  CHECK(second.closed.front().fate == Fate::Trained);
  CHECK(second.closed.back().prompt == "mid1");
  CHECK(second.closed.back().fate == Fate::Dropped);
  CHECK(second.closed.back().reason.find("deferred for 1 iteration") == 0);
  CHECK(report.metrics.at("groups/expired") == 1);
  CHECK(engine->ledger().conservation().deferred == 0);
  CHECK(engine->ledger().conservation().dropped == 2);
}

TEST_CASE("who is taken up does not depend on the order of arrival") {
  Told first;
  for (std::uint64_t order = 0; order < 25; ++order) {
    auto engine = engine_of(pilot_commit(2, 2), settings(2, 8));
    Told told;
    play(*engine, 0, 4, told, order * 100);
    if (order == 0) first = told;
    CHECK(told.groups == first.groups);
    CHECK(told.metrics == first.metrics);
  }
}

TEST_CASE("a run that is cut at any barrier takes its waiting groups along") {
  Told whole;
  auto uninterrupted = engine_of(pilot_commit(1, 2), settings(2, 8));
  play(*uninterrupted, 0, 5, whole);
  CHECK(whole.metrics.at(1).at("groups/resumed") > 0);
  for (int cut = 1; cut < 5; ++cut) {
    Told parts;
    auto before = engine_of(pilot_commit(1, 2), settings(2, 8));
    play(*before, 0, cut, parts);
    auto after = engine_of(pilot_commit(1, 2), settings(2, 8));
    REQUIRE(after->restore(before->save_state()));
    play(*after, cut, 5, parts);
    CHECK(parts.groups == whole.groups);
    CHECK(parts.metrics == whole.metrics);
    CHECK(after->save_state() == uninterrupted->save_state());
  }
}

TEST_CASE("a taken-up group pays from the budget of the iteration it runs in") {
  std::string policy = pilot_commit(1, 4);
  policy.insert(policy.find("refill at"), "budget 4 rollouts per iteration\n");
  auto engine = engine_of(policy, settings(1, 8));
  Driver first(*engine, course_of);
  CHECK(first.run(0, {"mid0", "mid1"}).metrics.at("budget/rollouts/iteration/spent") == 4);
  Driver second(*engine, course_of);
  const IterationReport report = second.run(1, {});
  CHECK(report.metrics.at("budget/rollouts/iteration/spent") == 2);  // the two that complete mid0; its pilots were paid
  CHECK(report.trained.size() == 1);
}

TEST_CASE("groups that are still on the way when every slot is taken are surplus") {
  auto engine = engine_of(R"(
policy eager
on select of pool p { take 3 * p.slots }
)", settings(1, 2));
  Driver driver(*engine, [](const std::string& prompt, int) { return steady(prompt == "p1" ? 1 : 500, 1.0); });
  const IterationReport report = driver.run(0, prompts(5));
  REQUIRE(driver.closed.size() == 3);
  CHECK(driver.closed.front().prompt == "p1");
  CHECK(driver.closed.front().fate == Fate::Trained);
  CHECK(driver.closed.at(1).fate == Fate::Surplus);
  CHECK(driver.closed.at(2).fate == Fate::Surplus);
  CHECK(report.metrics.at("groups/surplus") == 2);
  CHECK(driver.stops.size() == 4);
  CHECK(engine->ledger().conservation().cancelled == 4);
  CHECK(engine->ledger().conservation().holds());
}

TEST_CASE("a host that cannot keep rollouts refuses a policy that defers, before anything runs") {
  Settings poor = settings(2, 8);
  poor.host = {};
  const auto engine = LiveEngine::create(poor, bench::policy_of(pilot_commit(1, 1)));
  REQUIRE_FALSE(engine);
  CHECK(engine.error().what.find("defers groups to a later iteration, which this host cannot do") != std::string::npos);
}
