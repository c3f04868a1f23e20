// The versions of a run over the end of a process: who was to decide, decides.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/folder.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

TEST_CASE("fault 47: a resumed run comes back to the active version with its parameters") {
  const Folder folder;
  Settings made = settings(4, 2);
  made.run_folder = folder.path;
  std::string state, active;
  std::vector<std::string> whole, resumed;
  const auto play = [](LiveEngine& engine, int from, std::vector<std::string>& told) {
    for (int iteration = from; iteration < from + 2; ++iteration) {
      Driver driver(engine, by_digit, static_cast<std::uint64_t>(iteration));
      driver.run(iteration, prompts(4));
      for (const GroupResult& result : driver.closed) told.push_back(fmt::format("{} {} {}", result.prompt, static_cast<int>(result.fate), result.reason));
    }
  };
  {
    auto engine = engine_of(gate(0.75), made);
    Driver driver(*engine, by_digit);
    driver.run(0, prompts(4));
    SwapRequest request = request_of(gate(0.1));
    request.parameters = {{"least", "0.3"}};
    REQUIRE(engine->swap(request).outcome == SwapOutcome::Active);
    driver.run(1, prompts(4));
    state = engine->save_state();
    active = engine->policy_hash();
    play(*engine, 2, whole);
  }
  auto engine = engine_of(gate(0.75), made);  // made from the file that the run began with
  REQUIRE(engine->restore(state));
  CHECK(engine->policy_hash() == active);
  CHECK(engine->active_version() == 1);
  play(*engine, 2, resumed);
  CHECK(resumed == whole);
  CHECK(engine->swap(back(StateOf::Now)).outcome == SwapOutcome::Active);  // the version before is known too
  // Without its text the run says what is missing.
  for (const auto& entry : fs::directory_iterator(folder.path / "versions")) fs::remove(entry.path());
  engine.reset();
  auto without = engine_of(gate(0.75), made);
  const auto refused = without->restore(state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("cannot be restored") != std::string::npos);
}

namespace {

// Groups wait, so the canary takes whole batches: what it opened it decides, in whichever iteration that is.
std::string waiting(double least) {
  return fmt::format(R"(policy waiting
param least: real = {}
hit when reward >= 1
refill at most 1 rounds then train_partial
state looks: int per group = 0
state seen: groups per run = 0
on select of pool p {{ take 2 * p.slots }}
on size of batch b {{ start 2 each, up to 4 }}
on wave 1 of group g {{
  remember looks = looks + 1
  when (g.hit_rate ?? 0) >= 1.0 then stop, drop, refill because "known"
  otherwise defer at most 2 iterations, refill
}}
on resume of group g by g.age {{ complete to 4 }}
on finish of group g {{
  when (g.reward_mean ?? 0) < least then drop because "{{g.reward_mean ?? 0}} < {{least}} {{looks}}"
  otherwise train because "{{least}} {{looks}}"
}}
on update of batch b {{ remember seen = seen + b.size }}
)",
                     least);
}

Course course_of(const std::string& prompt, int sample) { return bench::steady(1, (prompt.back() + 2 * sample) % 3 == 0 ? 1.0 : 0.0); }

// With the run folder in which later processes find the texts.
std::unique_ptr<LiveEngine> waiting_engine(const bench::Folder& folder) {
  Settings made = bench::settings(3, 4);
  made.run_folder = folder.path();
  made.native = false;
  auto policy = load_policy(text_of(waiting(0.25), "waiting.allot"), {});
  if (!policy) FAIL(policy.error().text());
  auto engine = LiveEngine::create(made, *std::move(policy));
  if (!engine) FAIL(engine.error().text());
  return *std::move(engine);
}

SwapReport try_canary(Engine& engine, double least, double share) {
  SwapRequest request;
  request.text = text_of(waiting(least), "canary.allot");
  request.canary = share;
  return engine.swap(request);
}

struct Told {
  std::vector<std::string> groups;
  std::vector<std::map<std::string, double>> metrics;
  int late_canary = 0;  // groups that the canary decided in a later iteration than it opened them
};

void play(LiveEngine& engine, int from, int to, Told& told, const std::string& canary) {
  for (int iteration = from; iteration < to; ++iteration) {
    Driver driver(engine, course_of, static_cast<std::uint64_t>(iteration));
    std::set<int> opened;
    told.metrics.push_back(driver.run(iteration, prompts(9)).metrics);
    for (const Start& start : driver.starts) {
      if (start.first == 0) opened.insert(start.group);
    }
    for (const GroupResult& group : driver.closed) {
      told.late_canary += group.policy == canary && !opened.contains(group.group);
      told.groups.push_back(fmt::format("{} {} {} {} {}", group.group, group.prompt, static_cast<int>(group.fate), group.reason,
                                        group.policy.substr(0, 12)));
    }
  }
}

}  // namespace

TEST_CASE("groups of a canary that wait are decided by it after a resume, as in the run that was not interrupted") {
  constexpr int first = 1, last = 9;
  const bench::Folder of_whole;
  Told whole;
  auto uninterrupted = waiting_engine(of_whole);
  play(*uninterrupted, 0, first, whole, "");
  const SwapReport canary = try_canary(*uninterrupted, 0.6, 0.5);
  if (canary.outcome != SwapOutcome::Canary) FAIL(canary.reason);
  play(*uninterrupted, first, last, whole, canary.to);
  CHECK(whole.late_canary > 2);  // else nothing is shown
  int taken_along = 0;
  for (int cut = first + 1; cut < last; ++cut) {
    for (const bool through_folder : {false, true}) {
      INFO("cut after iteration " << cut - 1);
      const bench::Folder folder;
      Told parts;
      std::string state;
      {
        auto before = waiting_engine(folder);
        play(*before, 0, first, parts, "");
        REQUIRE(try_canary(*before, 0.6, 0.5).outcome == SwapOutcome::Canary);
        play(*before, first, cut, parts, canary.to);
        state = before->save_state();
      }
      taken_along += state.find("\"canary\":true") != std::string::npos;
      auto after = waiting_engine(folder);
      auto restored = through_folder ? after->restore_from(folder.path()) : after->restore(state);
      if (!restored) FAIL(restored.error().text());
      CHECK(after->save_state() == state);
      play(*after, cut, last, parts, canary.to);
      CHECK(parts.groups == whole.groups);
      CHECK(parts.metrics == whole.metrics);
      CHECK(bench::without_mark(after->save_state()) == bench::without_mark(uninterrupted->save_state()));
    }
  }
  CHECK(taken_along > 2);
}

TEST_CASE("groups of a canary that is replaced by another go on under the active version, before and after a resume") {
  const auto begin = [](const bench::Folder& folder, Told& told) {
    auto engine = waiting_engine(folder);
    play(*engine, 0, 1, told, "");
    if (const auto report = try_canary(*engine, 0.6, 0.9); report.outcome != SwapOutcome::Canary) FAIL(report.reason);
    int next = 1;
    const auto waits_under_canary = [&] { return engine->save_state().find("\"canary\":true") != std::string::npos; };
    while (!waits_under_canary() && next < 8) play(*engine, next, next + 1, told, ""), ++next;
    REQUIRE(waits_under_canary());
    const SwapReport second = try_canary(*engine, 0.5, 0.2);
    if (second.outcome != SwapOutcome::Canary) FAIL(second.reason);
    CHECK(second.groups_moved > 0);  // those that waited under the first
    play(*engine, next, next + 1, told, "");
    return std::pair(std::move(engine), next + 1);
  };
  const bench::Folder one, two;
  Told whole, parts;
  const auto [uninterrupted, next] = begin(one, whole);
  play(*uninterrupted, next, next + 4, whole, "");
  begin(two, parts).first.reset();
  auto after = waiting_engine(two);
  if (auto restored = after->restore_from(two.path()); !restored) FAIL(restored.error().text());
  play(*after, next, next + 4, parts, "");
  CHECK(parts.groups == whole.groups);
  CHECK(parts.metrics == whole.metrics);
}
