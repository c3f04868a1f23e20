// Which prompts an iteration opens, what is remembered of them, and how they go away and come back.
#include <cmath>
#include <limits>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/bench.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::prompts;
using bench::settings;
using bench::steady;

namespace {

std::vector<PoolPrompt> pool_of(int count) {
  std::vector<PoolPrompt> pool;
  for (const std::string& key : prompts(count)) pool.push_back({key, pool.size() % 2 == 0 ? "even" : "odd"});
  return pool;
}

Course mixed(const std::string&, int sample) { return steady(1, sample % 2); }

std::vector<std::string> opened(const Driver& driver) {
  std::vector<std::string> names;
  for (const Start& start : driver.starts) names.push_back(start.prompt);
  return names;
}

}  // namespace

TEST_CASE("`take N by SCORE` opens the best of the pool, ties to the lower index, whatever the host's order is") {
  auto engine = engine_of(R"(
policy newest
on select of pool p { take p.slots by -q.groups }
)", settings(2, 2));
  REQUIRE(engine->set_pool(pool_of(5)));
  std::vector<std::vector<std::string>> seen;
  for (int iteration = 0; iteration < 3; ++iteration) {
    Driver driver(*engine, mixed);
    driver.run(iteration, {"p4", "p3"});
    seen.push_back(opened(driver));
  }
  CHECK(seen == std::vector<std::vector<std::string>>{{"p0", "p1"}, {"p2", "p3"}, {"p4", "p0"}});
}

TEST_CASE("an undefined score comes last, and `take where` keeps the host's order") {
  auto best = engine_of("policy p\non select of pool p { take 2 by q.reward_mean }\n", settings(1, 2));
  REQUIRE(best->set_pool(pool_of(3)));
  Driver first(*best, mixed);
  first.run(0, {});
  CHECK(opened(first) == std::vector<std::string>{"p0", "p1"});  // all undefined: the lower index
  auto unseen = engine_of("policy p\non select of pool p { take where not q.seen }\n", settings(1, 2));
  REQUIRE(unseen->set_pool(pool_of(4)));
  std::vector<std::string> all;
  for (int iteration = 0; iteration < 5; ++iteration) {
    Driver driver(*unseen, mixed);
    driver.run(iteration, {"p2", "p1"});
    for (const std::string& prompt : opened(driver)) all.push_back(prompt);
  }
  CHECK(all == std::vector<std::string>{"p2", "p1", "p0", "p3"});  // then what the host did not name; then nothing is left
}

TEST_CASE("`take … by weight` draws without replacement, in proportion, and the same again for the same seed") {
  const std::string heavy = R"(
policy weighted
state weight: real per prompt = 1.0
on select of pool p { take 2 by weight weight[q] }
on update of pool p { for each q in p.known { remember weight[q] = if q.groups > 0 then 0.0 else 1.0 } }
)";
  std::vector<std::string> runs[2];
  for (auto& run : runs) {
    auto engine = engine_of(heavy, settings(2, 2));
    REQUIRE(engine->set_pool(pool_of(8)));
    for (int iteration = 0; iteration < 5; ++iteration) {
      Driver driver(*engine, mixed);
      driver.run(iteration, {});
      for (const std::string& prompt : opened(driver)) run.push_back(prompt);
    }
  }
  CHECK(runs[0] == runs[1]);
  // What was drawn weighs nothing from then on: eight prompts, each once, then none is left.
  CHECK(runs[0].size() == 8);
  CHECK(std::set<std::string>(runs[0].begin(), runs[0].end()).size() == 8);
}

TEST_CASE("weights are shares: a prompt of weight 3 among ones of weight 1 gets three draws of six") {
  auto engine = engine_of(R"(
policy weighted
state weight: real per prompt = 1.0
on select of pool p { take 1 by weight weight[q] }
on update of batch b { for each g in b.ended { remember weight[g.prompt] = if g.hits > 0 then 3.0 else 1.0 } }
hit when reward >= 1.0
)", settings(1, 1));
  REQUIRE(engine->set_pool(pool_of(4)));
  int heavy = 0, draws = 0;
  bool known = false;
  for (int iteration = 0; iteration < 3000; ++iteration) {
    Driver driver(*engine, [](const std::string& prompt, int) { return steady(1, prompt == "p2" ? 1.0 : 0.0); });
    driver.run(iteration, {});
    if (known) ++draws, heavy += opened(driver).front() == "p2";
    known = known || opened(driver).front() == "p2";
  }
  // Three of six: a binomial share of 0.5, standard deviation 0.5 / sqrt(draws); five of them.
  CHECK(static_cast<double>(heavy) / draws == Approx(0.5).margin(2.5 / std::sqrt(draws)));
}

TEST_CASE("an evicted prompt comes back when its epoch does; one that is evicted for good only when it is readmitted") {
  auto engine = engine_of(R"(
policy evicting
hit when reward >= 1.0
on finish of group g {
  when (g.hit_rate ?? 0) >= 1.0 then drop, evict until epoch + 1
  when (g.hit_rate ?? 0) <= 0 then drop, evict for good
  otherwise train
}
on epoch of pool p { readmit where q.evicted and q.evicted_until is undefined and q.groups < 2 groups }
)", settings(2, 2));
  REQUIRE(engine->set_pool(pool_of(4)));
  const auto course = [](const std::string& prompt, int sample) {
    return steady(1, prompt == "p0" ? 1.0 : prompt == "p1" ? 0.0 : sample % 2);
  };
  std::vector<std::vector<std::string>> seen;
  std::vector<double> epochs;
  for (int iteration = 0; iteration < 6; ++iteration) {
    Driver driver(*engine, course);
    epochs.push_back(driver.run(iteration, iteration % 2 == 0 ? std::vector<std::string>{"p0", "p1"}
                                                              : std::vector<std::string>{"p0", "p1", "p2", "p3"})
                         .metrics.at("pool/epoch"));
    seen.push_back(opened(driver));
  }
  // Iteration 0 opens p0 and p1: p0 is away until epoch 1, p1 for good. Iteration 1 opens p2 and p3, and the pool has
  // been passed: epoch 1 begins, p0 is back, and p1 is readmitted since it has had one group alone.
  CHECK(seen[0] == std::vector<std::string>{"p0", "p1"});
  CHECK(seen[1] == std::vector<std::string>{"p2", "p3"});
  CHECK(epochs == std::vector<double>{0, 1, 1, 2, 2, 3});
  CHECK(seen[2] == std::vector<std::string>{"p0", "p1"});
  CHECK(seen[3] == std::vector<std::string>{"p2", "p3"});
  // In epoch 2 p0 is back, and p1, with two groups, is not.
  CHECK(seen[4] == std::vector<std::string>{"p0"});
  CHECK(seen[5] == std::vector<std::string>{"p2", "p3"});
}

TEST_CASE("`update of pool` reaches prompts that were never seen, and state per category is shared by its prompts") {
  auto engine = engine_of(R"(
policy knowing
hit when reward >= 1.0
state looks: int per prompt = 0
state rate: real per category = 0.0
on update of batch b { for each g in b.ended { remember rate[g.category] = g.hit_rate ?? 0 } }
on update of pool p {
  for each q in p.known { remember looks[q] = looks[q] + 1 }
  report all = p.total
  report open = p.size
  report seen = count(q for q in p.known where q.seen)
}
on finish of group g { report rate = rate[g.category] otherwise train }
)", settings(2, 2));
  REQUIRE(engine->set_pool(pool_of(6)));
  const auto course = [](const std::string& prompt, int) { return steady(1, prompt == "p1" ? 1.0 : 0.0); };
  Driver first(*engine, course);
  const IterationReport report = first.run(0, {"p0", "p1"});
  CHECK(report.metrics.at("report/all") == 6);
  CHECK(report.metrics.at("report/open") == 6);
  CHECK(report.metrics.at("report/seen") == 2);
  CHECK(engine->store().prompt("p5").front().front().integer() == 1);
  Driver second(*engine, course);
  CHECK(second.run(1, {"p3", "p5"}).metrics.at("report/rate") == 1.0);  // both odd, like p1
}

TEST_CASE("the history of prompts and the epoch survive the end of a process") {
  const std::string policy = R"(
policy remembering
hit when reward >= 1.0
on select of pool p { take p.slots by (q.reward_mean ?? 0) - 2 * (q.reward_std ?? 0) }
on finish of group g { when g.hits >= 2 then drop, evict until epoch + 1 otherwise train }
)";
  const auto course = [](const std::string& prompt, int sample) {
    return steady(1, (prompt.back() - '0' + sample) % 3 == 0 ? 0.0 : 1.0);
  };
  const auto play = [&](LiveEngine& engine, int from, int to) {
    REQUIRE(engine.set_pool(pool_of(5)));
    std::vector<std::string> names;
    for (int iteration = from; iteration < to; ++iteration) {
      Driver driver(engine, course);
      driver.run(iteration, {});
      for (const std::string& prompt : opened(driver)) names.push_back(prompt);
    }
    return names;
  };
  auto whole = engine_of(policy, settings(2, 2));
  const std::vector<std::string> all = play(*whole, 0, 8);
  for (int cut = 1; cut < 8; ++cut) {
    auto before = engine_of(policy, settings(2, 2));
    std::vector<std::string> names = play(*before, 0, cut);
    auto after = engine_of(policy, settings(2, 2));
    REQUIRE(after->restore(before->save_state()));
    for (const std::string& prompt : play(*after, cut, 8)) names.push_back(prompt);
    CHECK(names == all);
    CHECK(after->save_state() == whole->save_state());
  }
}

TEST_CASE("a pool with one prompt twice is refused") {
  auto engine = engine_of("", settings(1, 1));
  const auto set = engine->set_pool({{"a", ""}, {"a", ""}});
  REQUIRE_FALSE(set);
  CHECK(set.error().what.find("a twice") != std::string::npos);
}

TEST_CASE("every prompt of the pool has a value of each input that is not optional: before it is taken, and before a swap") {
  const auto policy = [](const std::string& type, const std::string& score) {
    return fmt::format("policy easy\ninput difficulty: {} per prompt\non select of pool p {{ take 1 by {} }}\n", type, score);
  };
  const std::string strict = policy("prob", "-difficulty[q]");
  Settings made = settings(1, 2);
  made.inputs = {{"difficulty", {{"p0", 0.9}, {"p1", 0.1}}}};
  const std::string missing = "has no value for the prompt \"p2\"";
  auto engine = swapping::engine_of(strict, made);
  const auto refused = engine->set_pool(pool_of(3));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find(missing) != std::string::npos);
  REQUIRE(engine->set_pool(pool_of(2)));
  Driver driver(*engine, mixed);
  driver.run(0, {});
  CHECK(opened(driver) == std::vector<std::string>{"p1"});

  auto lenient = swapping::engine_of(policy("prob?", "-(difficulty[q] ?? 0.5)"), made);
  REQUIRE(lenient->set_pool(pool_of(3)));
  const SwapReport report = lenient->swap(swapping::request_of(strict));
  CHECK(report.outcome == SwapOutcome::Refused);
  CHECK(report.reason.find(missing) != std::string::npos);
  REQUIRE(lenient->set_pool(pool_of(2)));
  CHECK(lenient->swap(swapping::request_of(strict)).outcome == SwapOutcome::Active);
}

TEST_CASE("a prompt without a name can have no value of an input, and that is said") {
  Settings made = settings(1, 2);
  made.inputs = {{"difficulty", {{"", 0.9}, {"p1", 0.1}}}};
  const auto engine = LiveEngine::create(
      made, bench::policy_of("policy p\ninput difficulty: prob per prompt\non select of pool p { take 1 by difficulty[q] }\n"));
  REQUIRE_FALSE(engine);
  CHECK(engine.error().what.find("has one value for each prompt; one named \"\" can have none") != std::string::npos);
}

// Without a pool no epoch ends, so a prompt that is away until the next one never comes back.
TEST_CASE("evictions until an epoch are warned of once where none will end, and so is each iteration that may draw nothing") {
  const std::string warning = "prompts are evicted until an epoch, but no epoch ever ends";
  const std::string none = "no prompt may be drawn: all 2 are evicted";
  const auto course = [](const std::string&, int) { return steady(1, 1.0); };
  for (const bool pooled : {false, true}) {
    auto engine = engine_of("policy evicting\non finish of group g { drop, evict until epoch + 1 }\n", settings(2, 2));
    if (pooled) REQUIRE(engine->set_pool(pool_of(2)));
    std::vector<bool> warned, empty;
    for (int iteration = 0; iteration < 3; ++iteration) {
      const std::string message = Driver(*engine, course).run(iteration, prompts(2)).message;
      warned.push_back(message.find(warning) != std::string::npos);
      empty.push_back(message.find(none) != std::string::npos);
    }
    CHECK(warned == std::vector<bool>{!pooled, false, false});
    CHECK(empty == std::vector<bool>{false, !pooled, !pooled});
  }
  auto good = engine_of("policy evicting\non finish of group g { drop, evict for good }\n"
                        "on epoch of pool p { readmit where q.evicted }\n", settings(2, 2));
  CHECK(Driver(*good, course).run(0, prompts(2)).message.find(warning) == std::string::npos);
}

TEST_CASE("prompts that left the pool are not counted among its evicted ones") {
  auto engine = engine_of(R"(
policy counting
on select of pool p { report away = p.evicted otherwise take 1 }
on finish of group g { drop, evict for good }
on epoch of pool p { readmit where q.evicted and q.groups > 9 groups }
)", settings(1, 2));
  const auto away = [&](int iteration, std::vector<PoolPrompt> pool) {
    REQUIRE(engine->set_pool(std::move(pool)));
    const IterationReport report = Driver(*engine, mixed).run(iteration, {});
    return std::pair(report.metrics.at("report/away"), report.metrics.at("pool/away"));
  };
  // p0, then p1 is opened and evicted; before the last iteration p0 leaves the pool and p2 is new.
  CHECK(away(0, pool_of(2)) == std::pair(0.0, 1.0));
  CHECK(away(1, pool_of(2)) == std::pair(1.0, 2.0));
  CHECK(away(2, {{"p1", ""}, {"p2", ""}}) == std::pair(1.0, 2.0));
}

TEST_CASE("the last number of an iteration is refused: none could follow it") {
  auto engine = engine_of("", settings(1, 2));
  const int last = std::numeric_limits<int>::max();
  const auto refused = engine->begin_iteration(last, prompts(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "Iteration 2147483647 cannot begin: no number comes after it.");
  CHECK(Driver(*engine, mixed).run(last - 1, prompts(1)).iteration == last - 1);
  const auto before = engine->begin_iteration(0, prompts(1));
  REQUIRE_FALSE(before);
  CHECK(before.error().help.find("2147483647") != std::string::npos);
}
