// Many threads drive one engine, each its own groups: what is decided about a group depends on nobody else.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/clients.h"

using namespace allot;
using namespace allot::engine;
using bench::drive;
using bench::engine_of;
using bench::Outcome;
using bench::policy_of;
using bench::prompts;
using bench::settings;

TEST_CASE("threads: verdicts do not depend on how many clients there are") {
  // Handlers that look at their own group alone, at every kind of point that a group has.
  const std::string text = R"(policy clients
hit when reward >= 0.75
state seen: int per group = 0
refill at most 6 rounds then train_partial
on size of batch b { start 4 each, up to 6 }
on turn 3 of group g {
  remember seen = seen + 1
  let far = mean_pairwise(normalized_edit_distance, prefixes(g.actions, 3, padded))
  when (far ?? 1.0) < 0.2 then stop, drop, refill because "alike: {far}"
  otherwise continue
}
on wave 1 of group g {
  when g.hits == 1 then complete to 6
  otherwise stop
}
on finish of group g {
  when (g.reward_mean ?? 0) < 0.36 then drop, refill because "mean {g.reward_mean ?? 0} after {seen}"
  otherwise train
}
)";
  std::map<std::string, std::string> alone;
  std::map<std::string, double> metrics_alone;
  for (const int threads : {1, 2, 4, 8}) {
    auto engine = engine_of(text, settings(8, 4));
    const Outcome outcome = drive(*engine, threads, 6, prompts(64));
    CHECK(outcome.batches_closed == 1);
    const std::map<std::string, std::string> verdicts = outcome.verdicts();
    const auto report = engine->end_iteration();
    REQUIRE(report);
    if (threads == 1) {
      alone = verdicts;
      metrics_alone = report->metrics;
      // Every rule has a say: groups that agree, groups that are completed, means on either side.
      std::set<std::string> kinds;
      for (const GroupResult& result : outcome.closed) {
        kinds.insert(fmt::format("{} {} {}", static_cast<int>(result.fate), result.reason.substr(0, 4), result.rewards.size()));
      }
      CHECK(kinds.size() >= 4);
      CHECK(verdicts.size() > 12);
    }
    CHECK(verdicts == alone);
    CHECK(report->metrics == metrics_alone);
  }
}

TEST_CASE("threads: swaps under eight clients lose no decision, and each group is decided by the version that it names") {
  const auto limit = [](int version) { return 0.125 + 0.25 * version; };
  std::map<std::string, double> limits;
  std::vector<std::shared_ptr<Policy>> cached;
  for (int version = 0; version < 3; ++version) {
    cached.push_back(policy_of(fmt::format("policy swapped\nrefill at most 150 rounds then train_partial\non finish of group g {{\n"
                                           "  when (g.reward_mean ?? 0) < {0} then drop, refill because \"below {0}\"\n"
                                           "  otherwise drop, refill because \"not below {0}\"\n}}\n", limit(version))));
    limits[cached.back()->program().hash] = limit(version);
  }
  auto engine = LiveEngine::create(settings(8, 2), cached[0]);
  REQUIRE(engine);
  std::atomic<bool> stop = false;
  std::atomic<int> active = 0, mistaken = 0;
  std::vector<std::jthread> swappers;
  for (int i = 0; i < 2; ++i) {  // each replaces what it saw: who is too late must be told
    swappers.emplace_back([&, i] {
      for (int round = i; !stop; ++round) {
        SwapRequest request;
        request.policy = cached[static_cast<std::size_t>(round) % cached.size()];
        request.expected = (*engine)->policy_hash();
        const SwapReport report = (*engine)->swap(request);
        active += report.outcome == SwapOutcome::Active;
        mistaken += report.outcome == SwapOutcome::Active && report.from != request.expected;
      }
    });
  }
  const Outcome outcome = drive(**engine, 8, 30, prompts(8 * 150));  // long enough for all to come to their turn on any machine
  stop = true;
  swappers.clear();
  CHECK((*engine)->active_version() == active);  // each that was told to be active took a number, and no other did
  CHECK(active > 10);
  CHECK(mistaken == 0);
  CHECK(outcome.closed.size() == 8 * 150);
  std::set<std::string> deciding;
  for (const GroupResult& result : outcome.closed) {
    double mean = 0;
    for (const auto& reward : result.rewards) mean += *reward / 2;
    const double limit = limits.at(result.policy);
    CHECK(result.reason == fmt::format("{} {}", mean < limit ? "below" : "not below", limit));
    deciding.insert(result.policy);
  }
  CHECK(deciding.size() == 3);
  const auto report = (*engine)->end_iteration();
  REQUIRE(report);
  CHECK(report->metrics.at("policy/decisions") == 8 * 150);  // one `finish` a group, whoever answered
}
