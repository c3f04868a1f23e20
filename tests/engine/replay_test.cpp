// Groups that are trained on once more: which enter the buffer, and how they are asked about there.
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/auditing.h"
#include "runtime/engine/replaying.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

namespace {

// m: 0 and 1; h: 1 and 1; n: 0 and 0.
Course by_letter(const std::string& prompt, int sample) {
  return steady(1, prompt.front() == 'm' ? sample % 2 : prompt.front() == 'h' ? 1.0 : 0.0);
}

// Two turns. The rollouts of a prompt `s` act alike; else no action comes twice.
Course by_actions(const std::string& prompt, int sample) {
  Course course = steady(2, sample % 2);
  if (prompt.front() != 's') course.actions = {fmt::format("{}a", sample), fmt::format("{}b", sample)};
  return course;
}

const std::string distance = "mean_pairwise(normalized_edit_distance, prefixes(g.actions, {}, padded))";

std::string replaying(const std::string& by, const std::string& more = "") {
  return "policy p\non finish of group g { when g.flat then drop otherwise train }\n"
         "on replay of batch b { replay up to b.empty by " + by + ", max_age 4 iterations }\n" + more;
}

}  // namespace

// In iterations 0 and 2 a slot stays open when the rounds are used up, so nothing is trained on; groups 0 and 5 are kept
// by nobody. In 1 and 3 a dropped group leaves a slot empty; the one group that was trained on before 3 is 3.
TEST_CASE("only what was trained on is replayed, and what is not trained on once more is not said to be") {
  for (const std::string fallback : {"skip_update", "abort"}) {
    const Folder folder;
    Settings made = settings(2, 2);
    made.run_folder = folder.path;
    auto engine = engine_of("policy p\nrefill at most 2 rounds then " + fallback + R"(
on finish of group g {
  when (g.reward_mean ?? 0) > 0.9 then drop, refill
  when (g.reward_mean ?? 0) < 0.1 then drop
  otherwise train
}
on replay of batch b { replay up to b.empty by g.age, max_age 4 iterations }
)", made);
    Driver driver(*engine, by_letter);
    std::vector<std::vector<int>> trained, replayed;
    std::vector<double> counted;
    const std::vector<std::vector<std::string>> offers{
        {"m0", "h0", "h1", "h2"}, {"m1", "n0"}, {"m2", "h0", "h1", "h2"}, {"m3", "n1"}};
    int iteration = 0;
    for (const std::vector<std::string>& offered : offers) {
      const IterationReport report = driver.run(iteration++, offered);
      trained.push_back(report.trained);
      replayed.push_back(report.replayed);
      counted.push_back(report.metrics.at("groups/replayed"));
    }
    CHECK(trained == std::vector<std::vector<int>>{{}, {3}, {}, {8}});
    CHECK(replayed == std::vector<std::vector<int>>{{}, {}, {}, {3}});
    CHECK(counted == std::vector<double>{0, 0, 0, 1});
    const auto told = records(folder.path, "replay");
    REQUIRE(told.size() == 1);
    CHECK((told[0].at("it") == 3 && told[0].at("g") == 3 && told[0].at("age") == 2));
  }
}

// The first time a group is shaped, `looks` is 0; then 1 and 2. Group 0 is the only one that is ever trained on.
TEST_CASE("a group that is replayed is asked `shape` once more, and goes on with what it remembers") {
  const std::string text = replaying("g.age", R"(
state looks: real per group = 0.0
on shape of group g {
  remember looks = looks + 1
  set advantages = (1.0 + looks) * g.advantages
}
)");
  auto engine = engine_of(text, settings(1, 2));
  const auto shaped = [](LiveEngine& asked, int iteration) {
    Driver driver(asked, by_letter);
    driver.generate(iteration, {iteration == 0 ? "m" : "n"});
    const auto given = asked.shape_group({{{0, 0}, {0, 1}}, {-1.0, 1.0}, {}, {}});
    if (!given) FAIL(given.error().text());
    const auto report = asked.end_iteration();
    REQUIRE(report);
    CHECK(report->replayed == (iteration == 0 ? std::vector<int>{} : std::vector<int>{0}));
    return given->advantages;
  };
  CHECK(shaped(*engine, 0) == std::vector<double>{-1.0, 1.0});
  CHECK(shaped(*engine, 1) == std::vector<double>{-2.0, 2.0});
  auto resumed = engine_of(text, settings(1, 2));
  REQUIRE(resumed->restore(engine->save_state()));
  CHECK(shaped(*engine, 2) == std::vector<double>{-3.0, 3.0});
  CHECK(shaped(*resumed, 2) == std::vector<double>{-3.0, 3.0});
  CHECK(engine->save_state() == resumed->save_state());

  const Folder folder;
  Settings made = settings(1, 2);
  made.run_folder = folder.path;
  auto kept = engine_of(text, made);
  for (int iteration = 0; iteration < 3; ++iteration) CHECK(shaped(*kept, iteration)[1] == 1.0 + iteration);
  kept.reset();
  const auto audited = audit_run(folder.path);
  REQUIRE(audited);
  CHECK(audited->good());
  const auto replayed = replay_run(folder.path);
  REQUIRE(replayed);
  CHECK((replayed->iterations == 3 && replayed->differing == 0));
}

// All actions of groups 0 and 2 differ, those of group 1 are the same: distances 1, 0, 1. By age it would be group 2.
TEST_CASE("statistics that a new version asks for at `replay` are made from the logs of the buffer, as in a resume") {
  const std::string plain = replaying("g.age");
  const std::string by_distance = replaying("(" + fmt::format(fmt::runtime(distance), 2) + " ?? 9.0)");
  for (const bool cut : {false, true}) {
    const Folder folder;
    Settings made = settings(2, 2);
    made.run_folder = folder.path;
    auto engine = engine_of(plain, made);
    Driver(*engine, by_actions).run(0, {"d", "s"});
    Driver(*engine, by_actions).run(1, {"d"});
    const SwapReport swapped = engine->swap(request_of(by_distance));
    if (swapped.outcome != SwapOutcome::Active) FAIL(swapped.reason);
    if (cut) {
      const std::string state = engine->save_state();
      engine.reset();
      engine = engine_of(plain, made);
      REQUIRE(engine->restore(state));
    }
    CHECK(Driver(*engine, by_actions).run(2, {"d"}).replayed == std::vector<int>{1});
  }
}

// Every group has the distance 1. The other version keeps no distance, or one of shorter prefixes.
TEST_CASE("statistics that `update` asks for are there for groups that another version decided, too") {
  const auto policy = [](const std::string& more, int turns) {
    return fmt::format("policy p\nparam n: turns = {}\non finish of group g {{ {} train }}\n", turns, more);
  };
  const std::string of_group = fmt::format(fmt::runtime(distance), "n");
  const std::string sums = "on update of batch b { report seen = sum(" + of_group + " ?? -1.0 for g in b.ended) }\n";
  const std::string drops = "when (" + of_group + " ?? 1) < 0.5 then drop otherwise";
  for (const std::string& other : {policy("", 2), policy(drops, 1)}) {
    auto engine = engine_of(policy("", 2) + sums, settings(8, 2));
    SwapRequest request = request_of(other);
    request.canary = 0.5;
    const SwapReport report = engine->swap(request);
    if (report.outcome != SwapOutcome::Canary) FAIL(report.reason);
    Driver driver(*engine, by_actions);
    const IterationReport told = driver.run(0, {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"});
    std::set<std::string> policies;
    for (const GroupResult& result : driver.closed) policies.insert(result.policy);
    REQUIRE(policies.size() == 2);  // 1 in 128 draws would give one alone
    CHECK(told.metrics.at("report/seen") == 8);
  }
}
