// `loop` compares actions together with what they led to, which is kept only where somebody asks for it: what another
// version asks later of the same groups is answered from what was kept, or the swap is refused.
//
// A rollout here does the same three times and observes the same each time, so from its second turn on it loops.
#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/replaying.h"
#include "runtime/engine/swap_outlook.h"
#include "tests/engine/folder.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

namespace {

Course looping(const std::string&, int sample) { return steady(3, sample); }

const std::string loops = "any(loop(r.actions, 1) for r in g.rollouts)";
const std::string trains = "policy p\non finish of group g { train }\n";

std::string deferring(const std::string& condition) {
  return "policy waits\nrefill at most 2 rounds then train_partial\non select of pool p { take 1 }\n"
         "on size of batch b { start 2 each, up to 4 }\non wave 1 of group g { defer at most 4 iterations, leave }\n"
         "on resume of group g by g.age { complete to 4 }\non finish of group g {\n  when " + condition +
         " then train because \"a loop\"\n  otherwise train\n}\n";
}
const std::string plain = deferring("g.scored > 9");

std::string replaying(const std::string& by) {
  return trains + "on replay of batch b { replay up to b.empty by " + by + ", max_age 4 iterations }\n";
}
const std::string by_loops = "(if " + loops + " then 1 else 2)";

void refused(const SwapReport& report, const std::string& why) {
  INFO(report.reason);
  CHECK(report.outcome == SwapOutcome::Refused);
  CHECK(report.reason.find(why) != std::string::npos);
  CHECK(report.reason.find("its observations were not kept") != std::string::npos);
}

}  // namespace

// All four groups loop, whoever of the two opened them.
TEST_CASE("what `update` asks of a batch's groups is kept of those of a canary, too") {
  for (const double share : {0.0, 0.9}) {
    const Folder folder;
    Settings made = settings(4, 2);
    made.run_folder = folder.path;
    {
      auto engine = engine_of(trains + "on update of batch b {\n  report loops = sum(if " + loops + " then 1 else 0 for g in b.ended)\n}\n", made);
      const std::string own = engine->policy_hash();
      if (share > 0) {
        SwapRequest request = request_of(trains);
        request.canary = share;
        REQUIRE(engine->swap(request).outcome == SwapOutcome::Canary);
      }
      Driver driver(*engine, looping);
      CHECK(driver.run(0, prompts(4)).metrics.at("report/loops") == 4.0);
      const auto of_another = [&](const GroupResult& group) { return group.policy != own; };
      CHECK(std::any_of(driver.closed.begin(), driver.closed.end(), of_another) == (share > 0));
    }
    const auto replayed = replay_run(folder.path);
    if (!replayed) FAIL(replayed.error().text());
    CHECK(replayed->differing == 0);
  }
}

TEST_CASE("swap: a running group that may come to wait without observations refuses a policy that asks for them") {
  for (const int turns : {0, 1, 3}) {
    INFO("after " << turns << " turns");
    auto engine = engine_of(plain, settings(1, 2));
    Driver driver(*engine, looping);
    SwapReport report;
    driver.after_event = [&] {
      if (report.ticket == 0 && driver.turns >= turns) report = engine->swap(request_of(deferring(loops)));
    };
    driver.run(0, prompts(1));
    refused(report, "group 0 runs");
    REQUIRE(driver.deferred.size() == 1);
    refused(engine->swap(request_of(deferring(loops))), "group 0 waits");
  }
  // Before the group runs, or where the policy before it asked, too, they are kept.
  for (const bool asked : {false, true}) {
    auto engine = engine_of(asked ? deferring(loops) : plain, settings(1, 2));
    Driver driver(*engine, looping);
    SwapReport report;
    if (!asked) report = engine->swap(request_of(deferring(loops)));
    driver.after_event = [&] {
      if (report.ticket == 0) report = engine->swap(request_of(deferring(loops) + "# another\n"));
    };
    driver.run(0, prompts(1));
    if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
    driver.run(1, {});
    REQUIRE(driver.closed.size() == 1);
    CHECK(driver.closed.front().reason == "a loop");
  }
}

TEST_CASE("swap: groups that are kept for `replay` without observations refuse a policy that ranks them by `loop`") {
  auto engine = engine_of(replaying("g.age"), settings(2, 2));
  Driver driver(*engine, looping);
  SwapReport at_end;
  driver.after_event = [&] {
    if (driver.closed.size() == 2 && at_end.ticket == 0) at_end = engine->swap(request_of(replaying(by_loops)));
  };
  driver.run(0, prompts(2));
  refused(at_end, "group 0 is to be kept for `replay`");
  refused(engine->swap(request_of(replaying(by_loops))), "group 0 is kept for `replay`");
  auto state = read_snapshot(engine->save_state(), {});
  REQUIRE(state);
  const auto outlook = foresee_swap(policy_of(replaying("g.age")), policy_of(replaying(by_loops)), {{}, *std::move(state)});
  REQUIRE(outlook.refusals.size() == 2);  // one a group
  CHECK(outlook.refusals.front().what.find("group 0 is kept for `replay`") != std::string::npos);
  // One that asks at another point decides about new groups alone.
  const SwapReport of_new =
      engine->swap(request_of(replaying("g.age") + "on turn 3 of group g { when " + loops + " then stop, drop otherwise continue }\n"));
  if (of_new.outcome != SwapOutcome::Active) FAIL(of_new.reason);
}
