// What is told before a swap, against what the swap then does.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/settings_record.h"
#include "runtime/engine/swap_outlook.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Driver;
using Folder = bench::MadeFolder;
using bench::prompts;
using bench::settings;
using bench::steady;
namespace fs = std::filesystem;

namespace {

PolicyText text_of(const std::string& text) {
  PolicyText made;
  made.file = "gate.allot";
  made.text = text;
  return made;
}

std::shared_ptr<Policy> policy_of(const std::string& text) {
  auto policy = load_policy(text_of(text), {});
  if (!policy) FAIL(policy.error().text());
  return *std::move(policy);
}

ReadSnapshot state_of(const LiveEngine& engine) {
  auto read = read_snapshot(engine.save_state(), {});
  if (!read) FAIL(read.error().text());
  return *std::move(read);
}

const std::string first = R"(policy gate
budget 5000 tokens per run
state seen: int per prompt = 0
on turn 2 of group g { continue }
on finish of group g { train }
on update of batch b { for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + 1 } }
)";

std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

struct Case {
  std::string text;
  std::string refusal;  // part of it; empty: it is not refused
};

// By the reason: what does not fit the run, what the host cannot do, what is lost, what waits.
std::vector<Case> cases() {
  const std::string real = with(first, "state seen: int per prompt = 0", "state seen: real per prompt = 0");
  const std::string migrate = "migrate seen from int = 1 / (1 - old)\n";  // each prompt was seen once: 1 / 0
  return {
      {first, ""},
      {with(first, "turn 2", "turn 3"), ""},
      {with(first, "turn 2", "turn 50"), "would never be asked"},
      {with(first, "on finish", "on wave 1 of group g { defer at most 2 iterations }\non resume of group g by g.age { complete to 4 }\non finish"), "defers groups"},
      {with(first, "on finish", "on shape of group g { set advantages = g.advantages }\non finish"), "changes advantages"},
      {with(with(first, "int per prompt", "int per run"), "for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + 1 }",
            "remember seen = seen + 1"), "another scope"},
      {with(first, "state seen", "input difficulty: real per prompt\nstate seen"), "difficulty"},
      {with(with(first, "int per prompt = 0", "int? per prompt = 0"), "= seen[g.prompt] +", "= (seen[g.prompt] ?? 0) +"), ""},
      {with(first, "5000 tokens", "10 tokens"), ""},
      {with(first, "budget 5000 tokens per run\n", ""), ""},
      {"policy gate\non finish of group g { train }\n", ""},
      {with(real, "on turn", migrate + "on turn"), "migrate"},
      {with(real, "on turn", "migrate seen from int = 1 / (5 - old)\non turn"), ""},
  };
}

}  // namespace

TEST_CASE("a swap is refused where it was foretold, and nowhere else") {
  int refused = 0;
  for (const Case& each : cases()) {
    INFO(each.text);
    std::shared_ptr<Policy> next;
    {
      auto loaded = load_policy(text_of(each.text), {});
      if (!loaded) FAIL(loaded.error().text());
      next = *std::move(loaded);
    }
    const Folder folder;
    Settings made = settings(2, 2, 12);
    made.run_folder = folder.path;
    made.native = false;
    made.host = {};  // it can do nothing of what a host may leave out
    auto engine = LiveEngine::create(made, policy_of(first));
    REQUIRE(engine);
    Driver driver(**engine, [](const std::string&, int sample) { return steady(3, sample); });
    driver.run(0, prompts(2));
    auto settings_then = recorded_settings(folder.path);
    REQUIRE(settings_then);
    CHECK(settings_then->turn_limit == 12);
    const SwapOutlook outlook = foresee_swap(policy_of(first), next, {*settings_then, state_of(**engine)});
    SwapRequest request;
    request.policy = next;
    const SwapReport report = (*engine)->swap(request);
    CHECK((report.outcome == SwapOutcome::Refused) == !outlook.refusals.empty());
    CHECK(outlook.refusals.empty() == each.refusal.empty());
    refused += report.outcome == SwapOutcome::Refused;
    if (report.outcome == SwapOutcome::Refused && !outlook.refusals.empty()) {
      CHECK(report.reason.find(each.refusal) != std::string::npos);
      CHECK(outlook.refusals.front().text().find(each.refusal) != std::string::npos);
    } else {
      CHECK(report.state.dropped == outlook.state.dropped);
      CHECK(report.state.migrated == outlook.state.migrated);
    }
  }
  CHECK(refused == 6);
}

TEST_CASE("every reason is told, and what a swap would change beside the decisions") {
  const std::string two = "policy gate\non turn 50 of group g { continue }\non turn 60 of group g { continue }\n";
  KnownRun run;
  run.settings = settings(2, 2, 12);
  const SwapOutlook outlook = foresee_swap(policy_of(first), policy_of(two), {run.settings, {}});
  REQUIRE(outlook.refusals.size() == 2);
  CHECK(outlook.refusals[0].what.find("turn 50") != std::string::npos);
  CHECK(outlook.refusals[1].what.find("turn 60") != std::string::npos);
  CHECK(outlook.state.dropped == std::vector<std::string>{"seen"});
  CHECK(outlook.budgets == std::vector<std::string>{"5000 tokens per run -> none"});
  CHECK(outlook.handlers == std::vector<std::string>{"`on finish of group g`", "`on update of batch b`"});
  CHECK(outlook.waits.find("state") != std::string::npos);
  const SwapOutlook same = foresee_swap(policy_of(first), policy_of(first), {run.settings, {}});
  CHECK((same.refusals.empty() && same.waits.empty() && same.budgets.empty() && same.handlers.empty() && same.state.dropped.empty()));
}

TEST_CASE("a lower budget is told with what is spent of it") {
  auto engine = LiveEngine::create([] {
    Settings made = settings(2, 2, 12);
    made.native = false;
    return made;
  }(), policy_of(first));
  REQUIRE(engine);
  Driver driver(**engine, [](const std::string&, int sample) { return steady(3, sample); });
  driver.run(0, prompts(2));
  // Four rollouts of three turns of ten tokens (bench.h).
  const auto outlook = foresee_swap(policy_of(first), policy_of(with(first, "5000 tokens", "100 tokens")), {{}, state_of(**engine)});
  CHECK(outlook.budgets == std::vector<std::string>{"5000 tokens per run -> 100 tokens per run, 120 are spent"});
  CHECK(outlook.waits == "the budgets differ");
}

TEST_CASE("the journal's settings hold the inputs that came from a file") {
  const Folder folder;
  std::ofstream(folder.path / "inputs.json") << R"({"difficulty": {"p0": 0.25}})";
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  made.input_file = folder.path / "inputs.json";
  made.native = false;
  auto engine = LiveEngine::create(made, policy_of("policy p\ninput difficulty: real? per prompt\non finish of group g { train }\n"));
  if (!engine) FAIL(engine.error().text());
  Driver driver(**engine, [](const std::string&, int sample) { return steady(3, sample); });
  driver.run(0, prompts(2));
  const auto recorded = recorded_settings(folder.path);
  REQUIRE(recorded);
  CHECK(recorded->inputs.at("difficulty").at("p0") == 0.25);
}
