// Groups and batches that are under way when a swap comes.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/replaying.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

TEST_CASE("fault 45: a running group ends under its version; with --now it changes over only where state and statistics allow") {
  const auto sprt = [](double bound) {
    return fmt::format("policy sprt\nstate score: real per group = 0\non every turn of group g {{\n  remember score = score + 0.4\n"
                       "  when score >= {} then stop, drop because \"score {{score}}\"\n  otherwise continue\n}}\n", bound);
  };
  // By the turns: a read sees the state from before it, so 0, 0.4, 0.8, 1.2, …; 1.0 is passed at turn 4, 0.6 at turn 3.
  const auto run = [&](bool now) {
    auto engine = engine_of(sprt(1.0), settings(1, 1));
    Driver driver(*engine, [](const std::string&, int) { return steady(9, 1.0); });
    bool swapped = false;
    driver.after_event = [&] {
      if (swapped || driver.turns < 2) return;
      swapped = true;
      SwapRequest request = request_of(sprt(0.6));
      request.now = now;
      const SwapReport report = engine->swap(request);
      CHECK(report.outcome == SwapOutcome::Active);
      CHECK(report.groups_moved == (now ? 1 : 0));
      CHECK(report.groups_restarted == 0);
    };
    driver.run(0, prompts(1));
    return driver.turns;
  };
  CHECK(run(false) == 4);
  CHECK(run(true) == 3);
  auto engine = engine_of(sprt(1.0), settings(1, 1));
  SwapRequest other = request_of("policy sprt\nstate total: int per group = 0\non every turn of group g {\n  remember total = total + 1\n  when total > 3 then stop, drop\n  otherwise continue\n}\n");
  other.now = true;
  Driver driver(*engine, [](const std::string&, int) { return steady(2, 1.0); });
  SwapReport report;
  driver.after_event = [&] {
    if (report.ticket == 0) report = engine->swap(other);
  };
  driver.run(0, prompts(1));
  CHECK(report.outcome == SwapOutcome::Refused);
  CHECK(report.reason.find("Running groups cannot change over: one of them has no state") != std::string::npos);
}

TEST_CASE("swap: statistics that the new version asks for are made from the log of running groups") {
  const std::string plain = "policy p\non turn 2 of group g { continue }\non turn 4 of group g { continue }\n";
  const std::string distances = "policy p\non turn 2 of group g { continue }\non turn 4 of group g {\n  let far = mean_pairwise(normalized_edit_distance, prefixes(g.actions, 4, padded))\n"
                                "  when (far ?? 1) < 0.3 then stop, drop because \"{far}\"\n  otherwise continue\n}\n";
  // Two rollouts that differ in one action of four: distance 1/4.
  const auto courses = [](const std::string&, int sample) {
    Course course = steady(6, sample);
    if (sample == 1) course.actions[0] = "jump";
    return course;
  };
  auto engine = engine_of(plain, settings(1, 2));
  Driver driver(*engine, courses);
  SwapReport report;
  driver.after_event = [&] {
    if (report.ticket != 0 || driver.turns < 5) return;
    SwapRequest request = request_of(distances);
    request.now = true;
    report = engine->swap(request);
  };
  driver.run(0, prompts(1));
  CHECK(report.outcome == SwapOutcome::Active);
  REQUIRE(driver.closed.size() == 1);
  CHECK(driver.closed.front().reason == "0.25");
}

namespace {

std::string pilot(const std::string& state, const std::string& remember, int total) {
  return fmt::format("policy pilot\nrefill at most 2 rounds then train_partial\n{}\non size of batch b {{ start 1 each, up to 4 }}\n"
                     "on wave 1 of group g {{\n  {}\n  otherwise defer at most 3 iterations\n}}\n"
                     "on wave of group g {{ stop }}\non resume of group g by g.age {{ complete to {} }}\non finish of group g {{ report looks = looks\n  train }}\n", state, remember, total);
}

}  // namespace

TEST_CASE("swap: a deferred group resumes under the current version, its state carried or begun anew, and the journal says which") {
  const std::string counts = pilot("state looks: int per group = 0", "remember looks = looks + 1", 2);
  for (const auto& [next, state, looks] :
       {std::tuple(pilot("state looks: int per group = 0", "remember looks = looks + 1", 3), "kept", 1.0),
        std::tuple(pilot("state looks: real per group = 7\nmigrate looks from int = 10 * old", "remember looks = looks + 1", 3), "migrated", 10.0),
        std::tuple(pilot("state looks: real per group = 7", "remember looks = looks + 1", 3), "restarted", 7.0)}) {
    const Folder folder;
    Settings made = settings(1, 4);
    made.run_folder = folder.path;
    auto engine = engine_of(counts, made);
    Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
    driver.run(0, prompts(1));
    REQUIRE(driver.deferred.size() == 1);
    const SwapReport report = engine->swap(request_of(next));
    if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
    CHECK(report.groups_moved == 1);
    CHECK(report.groups_restarted == (std::string(state) == "restarted"));
    const IterationReport told = driver.run(1, prompts(1));
    REQUIRE(driver.closed.size() == 1);
    CHECK(driver.closed.front().rewards.size() == 3);  // complete to 3, by the new version
    CHECK(told.metrics.at("report/looks") == looks);
    const auto adopted = records(folder.path, "adopt");
    REQUIRE(adopted.size() == 1);
    CHECK(adopted.front().at("state") == state);
    CHECK(adopted.front().at("g") == 0);
  }
}

TEST_CASE("swap: a group that ran meanwhile and then waits is decided by the active version, before and after a resume") {
  const auto waits = [](const std::string& who) {
    return fmt::format("policy waits\nrefill at most 2 rounds then train_partial\non select of pool p {{ take 1 }}\n"
                       "on size of batch b {{ start 2 each, up to 4 }}\non wave 1 of group g {{ defer at most 4 iterations, leave }}\n"
                       "on resume of group g by g.age {{ complete to 4 }}\non finish of group g {{ train because \"{}\" }}\n", who);
  };
  const auto course = [](const std::string&, int sample) { return steady(1, sample % 2); };
  for (const bool cut : {false, true}) {
    INFO((cut ? "resumed" : "not interrupted"));
    const Folder folder;
    Settings made = settings(1, 2);
    made.run_folder = folder.path;
    auto engine = engine_of(waits("before"), made);
    SwapReport report;
    Driver first(*engine, course);
    first.after_event = [&] {
      if (report.ticket == 0) report = engine->swap(request_of(waits("after")));
    };
    first.run(0, prompts(1));
    REQUIRE(first.deferred.size() == 1);
    REQUIRE(report.outcome == SwapOutcome::Active);
    CHECK(report.groups_moved == 0);  // it ran
    const auto adopted = records(folder.path, "adopt");
    REQUIRE(adopted.size() == 1);     // … and moved when it began to wait
    CHECK(adopted.front().at("g") == 0);
    if (cut) {
      const std::string state = engine->save_state();
      engine.reset();
      engine = engine_of(waits("before"), made);
      if (auto restored = engine->restore(state); !restored) FAIL(restored.error().text());
    }
    Driver second(*engine, course);
    second.run(1, {});
    REQUIRE(second.closed.size() == 1);
    CHECK(second.closed.front().reason == "after");
    CHECK(second.closed.front().policy == report.to);
    engine.reset();
    const auto replayed = replay_run(folder.path);
    if (!replayed) FAIL(replayed.error().text());
    CHECK(replayed->differing == 0);
  }
}

TEST_CASE("swap: batch handlers are those of the batch's version until it ends") {
  const auto sized = [](int size) {
    return fmt::format("policy sized\nrefill at most 4 rounds then train_partial\non size of batch b {{ start {} each }}\n"
                       "on finish of group g {{\n  when (g.reward_mean ?? 0) < 0.6 then drop, refill\n  otherwise train\n}}\n", size);
  };
  auto engine = engine_of(sized(2), settings(1, 2));
  Driver driver(*engine, [](const std::string&, int) { return steady(1, 0.0); });
  SwapReport report;
  driver.after_event = [&] {
    if (report.ticket == 0) report = engine->swap(request_of(sized(3)));
  };
  driver.run(0, prompts(4));
  CHECK(report.outcome == SwapOutcome::Active);
  REQUIRE(driver.starts.size() == 4);  // four rounds, all asked of the batch's version
  for (const Start& start : driver.starts) CHECK(start.count == 2);
  CHECK(driver.closed[0].policy == report.from);
  CHECK(driver.closed[1].policy == report.to);  // opened after the swap
  driver.run(1, prompts(4));
  CHECK(driver.starts.back().count == 3);
}
