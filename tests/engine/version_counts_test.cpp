// What a report counts of each version is what the journal tells of it, whoever holds the version and for however long.
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Driver;
using bench::Folder;
using bench::prompts;

namespace {

// Rules on lines of their own, and a fault where the draw is low.
std::string gate(int number) {
  return fmt::format(R"(policy gate
param least: real = 0.{}
refill at most 3 rounds then train_partial
on turn 1 of group g {{
  when draw("low") < 0.1 and iteration / (g.turn - g.turn) > 0.0 then stop
  when draw("low") < least then stop, drop, refill because "low"
  otherwise continue
}}
on finish of group g {{
  when (g.reward_mean ?? 0) < least then drop
  otherwise train
}}
)",
                     number);
}

PolicyText text_of(int number) {
  PolicyText made;
  made.file = "gate.allot";
  made.text = gate(number);
  return made;
}

bench::Course course_of(const std::string& prompt, int sample) { return bench::steady(3, (prompt.back() + sample) % 2 == 0 ? 1.0 : 0.0); }

// By iteration and version: decisions, faults, and how often the rule of each line answered.
using Counts = std::map<std::tuple<int, int, std::string>, double>;

Counts told_by(const std::filesystem::path& run, const std::map<int, std::shared_ptr<Policy>>& policies) {
  Counts counts;
  const auto add = [&](const nlohmann::ordered_json& record, double times) {
    const int iteration = record.at("it").get<int>(), version = record.value("v", 0), rule = record.at("r").get<int>();
    counts[{iteration, version, "decisions"}] += times;
    if (record.contains("fault")) counts[{iteration, version, "faults"}] += times;
    if (rule < 0) return;
    const lang::Handler& handler = policies.at(version)->program().handlers[record.at("h").get<std::size_t>()];
    counts[{iteration, version, fmt::format("rule/{}", handler.rules[static_cast<std::size_t>(rule)].line)}] += times;
  };
  auto read = read_journal(run / "journal", [&](const nlohmann::ordered_json& record) {
    if (record.at("k") == "ask") add(record, 1);
    if (record.at("k") == "same") add(record, static_cast<double>(record.at("g").size()));
  });
  REQUIRE(read);
  REQUIRE(read->damaged.empty());
  return counts;
}

void add_reported(const IterationReport& report, Counts& counts) {
  const int batch = static_cast<int>(report.metrics.at("policy/version"));
  for (const auto& [name, value] : report.metrics) {
    if (value == 0) continue;
    if (name.starts_with("rule/")) counts[{report.iteration, batch, name}] += value;
    if (!name.starts_with("version/")) continue;
    const std::size_t slash = name.find('/', 8);
    counts[{report.iteration, std::stoi(name.substr(8)), name.substr(slash + 1)}] += value;
  }
}

}  // namespace

TEST_CASE("counts of versions that come and go within an iteration are those of the journal, even where somebody holds them") {
  int versions = 0, held = 0, faults = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    const Folder folder;
    Settings made = bench::settings(4, 2);
    made.run_folder = folder.path();
    made.native = false;
    std::map<int, std::shared_ptr<Policy>> policies;
    auto first = load_policy(text_of(3), {});
    if (!first) FAIL(first.error().text());
    policies[0] = *first;
    auto engine = LiveEngine::create(made, *std::move(first));
    if (!engine) FAIL(engine.error().text());
    std::mt19937_64 random(seed);
    std::vector<std::shared_ptr<Version>> holding;  // by somebody who is no part of the engine
    (*engine)->observe([&](const Decision&, const LiveGroup& group, int) {
      if (seed % 3 != 0 && random() % 3 == 0) holding.push_back(group.version);
    });
    Counts reported;
    for (int iteration = 0; iteration < 5; ++iteration) {
      Driver driver(**engine, course_of, random());
      driver.after_event = [&] {
        if (random() % 6 == 0 && !holding.empty() && seed % 3 == 1) holding.clear();  // in the middle, or never
        if (random() % 8 != 0) return;
        SwapRequest request;
        request.text = text_of(1 + static_cast<int>(random() % 8));
        request.now = random() % 2 == 0;
        if (random() % 5 == 0) request.canary = 0.5;
        auto policy = load_policy(request.text, {});
        const SwapReport report = (*engine)->swap(request);
        if (report.outcome == SwapOutcome::Active || report.outcome == SwapOutcome::Canary) policies[report.version] = *std::move(policy);
      };
      add_reported(driver.run(iteration, prompts(12)), reported);
      held += static_cast<int>(std::set(holding.begin(), holding.end()).size());
    }
    (*engine).reset();
    const Counts told = told_by(folder.path(), policies);
    CHECK(reported == told);
    std::set<int> seen;
    for (const auto& [key, value] : told) {
      seen.insert(std::get<1>(key));
      faults += std::get<2>(key) == "faults" ? static_cast<int>(value) : 0;
    }
    versions += static_cast<int>(seen.size());
  }
  CHECK(versions > 60);  // else nothing is shown
  CHECK(held > 60);
  CHECK(faults > 5);
}
