// A canary: which groups it decides, and what becomes of it.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

TEST_CASE("canary: a seeded share of the groups, or of the iterations where groups are ranked") {
  auto engine = engine_of(gate(0.75), settings(50, 2));
  SwapRequest request = request_of(gate(0.25));
  request.canary = 0.3;
  const SwapReport report = engine->swap(request);
  REQUIRE(report.outcome == SwapOutcome::Canary);
  Driver driver(*engine, by_digit);
  const IterationReport told = driver.run(0, prompts(50));
  std::map<std::string, int> by_policy;
  for (const GroupResult& result : driver.closed) {
    ++by_policy[result.policy];
    const bool middle = result.rewards[1] == 1.0;  // mean 0.5: the two versions differ
    if (middle) CHECK((result.fate == Fate::Trained) == (result.policy == report.to));
  }
  // 50 draws at 0.3: 4 to 27 is within five standard deviations.
  CHECK(by_policy[report.to] >= 4);
  CHECK(by_policy[report.to] <= 27);
  CHECK(told.metrics.at("version/1/decisions") == by_policy[report.to]);
  CHECK(told.metrics.at("policy/decisions") == 50);
  // Another order of arrival gives the same groups to it.
  auto again = engine_of(gate(0.75), settings(50, 2));
  REQUIRE(again->swap(request).outcome == SwapOutcome::Canary);
  Driver other(*again, by_digit, 99);
  other.run(0, prompts(50));
  std::map<std::string, std::string> one, two;
  for (const GroupResult& result : driver.closed) one[result.prompt] = result.policy;
  for (const GroupResult& result : other.closed) two[result.prompt] = result.policy;
  CHECK(one == two);
  // Taken back, it decides nothing more.
  const SwapReport taken = engine->swap(back(StateOf::Now));
  CHECK(taken.outcome == SwapOutcome::Active);
  CHECK(taken.reason.find("taken back") != std::string::npos);
  Driver last(*engine, by_digit);
  last.run(1, prompts(50));
  for (const GroupResult& result : last.closed) CHECK(result.policy == report.from);

  const auto ranked = [](const std::string& by) {
    return fmt::format("policy ranked\non select of pool p {{ take p.slots by {} }}\non finish of group g {{ train }}\n", by);
  };
  auto pool = engine_of(ranked("[0.0 for q in p.prompts]"), settings(2, 2));
  request = request_of(ranked("[1.0 for q in p.prompts]"));
  request.canary = 0.5;
  const SwapReport by_iteration = pool->swap(request);
  if (by_iteration.outcome != SwapOutcome::Canary) FAIL(by_iteration.reason);
  CHECK(by_iteration.reason.find("iterations") != std::string::npos);
  Driver batches(*pool, by_digit);
  int under_canary = 0;
  for (int iteration = 0; iteration < 20; ++iteration) {
    const std::size_t before = batches.closed.size();
    batches.run(iteration, prompts(4));
    const std::string& policy = batches.closed[before].policy;
    for (std::size_t i = before; i < batches.closed.size(); ++i) CHECK(batches.closed[i].policy == policy);
    under_canary += policy == by_iteration.to;
  }
  CHECK(under_canary >= 2);
  CHECK(under_canary <= 18);
  // State that differs cannot be shared.
  request = request_of(as_mean);
  request.canary = 0.1;
  CHECK(engine_of(with_beta, settings(1, 2))->swap(request).reason.find("A canary shares memory") != std::string::npos);
}

namespace {

SwapRequest canary_of(const std::string& text, double share) {
  SwapRequest request = request_of(text);
  request.canary = share;
  return request;
}

std::string canary_words(const SwapReport& canary, const std::string& what) {
  return fmt::format("the canary {} {}", canary.to.substr(0, 12), what);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("canary: what ends it says so, in the answer and in the journal") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  const SwapReport one = engine->swap(canary_of(gate(0.25), 0.5));
  REQUIRE(one.outcome == SwapOutcome::Canary);
  const SwapReport share = engine->swap(canary_of(gate(0.25), 0.25));
  CHECK_FALSE(has(share.reason, "the canary"));  // it goes on, with another share
  const SwapReport two = engine->swap(canary_of(gate(0.5), 0.5));
  CHECK(has(two.reason, canary_words(one, "was taken back")));
  const SwapReport other = engine->swap(request_of(gate(0.125)));
  REQUIRE(other.outcome == SwapOutcome::Active);
  CHECK(other.reason == canary_words(two, "was taken back"));
  const SwapReport three = engine->swap(canary_of(gate(0.25), 0.5));
  const SwapReport promoted = engine->swap(request_of(gate(0.25)));
  CHECK(promoted.reason == canary_words(three, "becomes the active version"));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  const auto swaps = records(folder.path, "swap");
  REQUIRE(swaps.size() == 6);
  CHECK(swaps[3].at("reason") == other.reason);
  CHECK(swaps[5].at("reason") == promoted.reason);
}

TEST_CASE("canary: a rollback tells of all that it takes back, a swap that waits too") {
  auto engine = engine_of(with_beta, settings(2, 2));
  const SwapReport canary = engine->swap(canary_of(with_beta + "# canary\n", 0.5));
  if (canary.outcome != SwapOutcome::Canary) FAIL(canary.reason);
  Driver driver(*engine, by_digit);
  SwapReport waiting, taken_back;
  driver.after_event = [&] {
    if (waiting.ticket != 0) return;
    waiting = engine->swap(request_of(as_mean));
    taken_back = engine->swap(back(StateOf::Now));
  };
  driver.run(0, prompts(2));
  REQUIRE(waiting.outcome == SwapOutcome::Waiting);
  CHECK(taken_back.outcome == SwapOutcome::Active);
  CHECK(has(taken_back.reason, canary_words(canary, "was taken back")));
  CHECK(has(taken_back.reason, waiting.to.substr(0, 12) + ", which waited for the end of the iteration, is superseded"));
  CHECK(engine->swap_outcome(waiting.ticket).outcome == SwapOutcome::Superseded);
  CHECK(engine->policy_hash() == canary.from);
}
