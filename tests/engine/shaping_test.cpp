// `wave of batch`, the points of one rollout, and what comes between generation and the loss.
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

Course mixed(const std::string&, int sample) { return steady(1, sample % 2); }

}  // namespace

TEST_CASE("`wave of batch` comes once, when every group has ended its wave, and 0 ends a group") {
  const std::string policy = R"(
policy extra
on size of batch b { start 2 each }
on wave 1 of batch b {
  report asked = b.size
  otherwise sample [if g.slot == 1 then 0 else g.slot + 1 for g in b.groups] more
}
)";
  std::map<std::string, std::size_t> first;
  for (std::uint64_t order = 0; order < 10; ++order) {
    auto engine = engine_of(policy, settings(3, 2));
    Driver driver(*engine, [](const std::string& prompt, int sample) { return steady(1 + sample + prompt.back() % 3, sample % 2); }, order);
    const IterationReport report = driver.run(0, prompts(3));
    CHECK(report.metrics.at("rollouts/started") == 6 + 1 + 0 + 3);
    std::map<std::string, std::size_t> sizes;
    for (const GroupResult& result : driver.closed) sizes[result.prompt] = result.subset.size();
    CHECK(sizes == std::map<std::string, std::size_t>{{"p0", 3}, {"p1", 2}, {"p2", 5}});
    if (order == 0) first = sizes;
    CHECK(sizes == first);
  }
}

TEST_CASE("a request of a batch is reserved as a whole and cut from the last slot backwards") {
  auto engine = engine_of(R"(
policy extra
budget 10 rollouts per iteration
on size of batch b { start 2 each }
on wave 1 of batch b { sample [2 for g in b.groups] more }
)", settings(3, 2));
  Driver driver(*engine, mixed);
  driver.after_event = [&] {
    for (const Account& account : engine->ledger().accounts()) {
      if (account.reserved + account.spent > account.total) FAIL("the budget was overrun");
    }
    if (!engine->ledger().conservation().holds()) FAIL("rollouts were lost");
  };
  const IterationReport report = driver.run(0, prompts(3));
  CHECK(report.metrics.at("rollouts/started") == 10);
  CHECK(report.metrics.at("budget/starts_cut") == 2);
  std::map<std::string, std::size_t> sizes;
  for (const GroupResult& result : driver.closed) sizes[result.prompt] = result.subset.size();
  CHECK(sizes == std::map<std::string, std::size_t>{{"p0", 4}, {"p1", 4}, {"p2", 2}});
}

TEST_CASE("`every turn of rollout` ends that rollout alone, and `every N tokens` comes when it passes another N") {
  auto engine = engine_of(R"(
policy watching
on every turn of rollout r { when r.turns >= 3 and r.sample == 0 then stop otherwise continue }
on every 25 tokens of rollout r { when r.tokens >= 50 and r.sample == 1 then stop otherwise continue }
)", settings(1, 3));
  Driver driver(*engine, [](const std::string&, int) { return steady(8, 1.0); });  // 10 tokens a turn
  const IterationReport report = driver.run(0, prompts(1));
  CHECK(driver.stops.size() == 2);
  CHECK(report.metrics.at("turns") == 3 + 5 + 8);
  // Eight turns of three rollouts but the ended ones, and at 30, 50 (and for the third at 80) tokens.
  CHECK(report.metrics.at("rollouts/stopped") == 2);
}

TEST_CASE("`ahead: run` holds nobody at a turn") {
  for (const bool run : {false, true}) {
    auto engine = engine_of(fmt::format("policy p\non turn 2 of group g{} {{ continue }}\n", run ? ", ahead: run" : ""), settings(1, 4));
    Driver driver(*engine, [](const std::string&, int) { return steady(6, 1.0); }, 3);
    driver.run(0, prompts(1));
    CHECK((driver.holds == 0) == run);
  }
}

TEST_CASE("`score` sets the reward before anybody sees it, and keeps what the environment gave") {
  auto engine = engine_of(R"(
policy scoring
hit when reward >= 1.0
on score of rollout r { set reward = if r.tokens > 20 then r.reward - 0.25 else r.reward }
on result of group g { report mean = g.reward_mean ?? 0 otherwise continue }
on finish of group g { report hits = g.hits otherwise train }
)", settings(1, 2));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(sample == 0 ? 1 : 4, 1.0); });
  const IterationReport report = driver.run(0, prompts(1));
  REQUIRE(driver.closed.size() == 1);
  CHECK(driver.closed.front().rewards == std::vector<std::optional<double>>{1.0, 0.75});
  CHECK_FALSE(driver.closed.front().flat);
  CHECK(report.metrics.at("report/hits") == 2);  // `hit` reads the raw reward
  CHECK(report.metrics.at("reward/all") == Approx(0.875));
}

TEST_CASE("`shape of group` sees all rollouts and sets advantages and weights of those that are trained on") {
  auto engine = engine_of(R"(
policy shaping
on finish of group g { train [0, 2, 3] }
on shape of group g {
  set advantages = [if (r.advantage ?? 0) > 0 then 2 * (r.advantage ?? 0) else 0.0 for r in g.rollouts],
  set weights = [if (r.class ?? 9) == 0 then 0.5 else 1.0 for r in g.rollouts]
}
)", settings(1, 4));
  Driver driver(*engine, [](const std::string&, int sample) {
    Course course = steady(1, sample);
    course.answer = sample % 2 == 0 ? "even" : "odd";
    return course;
  });
  driver.generate(0, prompts(1));
  CHECK(engine->shapes_groups());
  const auto shaped = engine->shape_group({{{0, 0}, {0, 2}, {0, 3}}, {-1.0, 0.5, 0.25}, {}});
  REQUIRE(shaped);
  CHECK(shaped->advantages == std::vector<double>{0.0, 1.0, 0.5});
  CHECK(shaped->weights == std::vector<double>{0.5, 0.5, 1.0});  // samples 0 and 2 answer alike, and first
  REQUIRE(engine->end_iteration());
}

TEST_CASE("with a baseline the advantage is the reward less that") {
  auto engine = engine_of("policy p\non shape of group g { set baseline = g.reward_max ?? 0 }\n", settings(1, 3));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
  driver.generate(0, prompts(1));
  const auto shaped = engine->shape_group({{{0, 0}, {0, 1}, {0, 2}}, {9.0, 9.0, 9.0}, {}});
  REQUIRE(shaped);
  CHECK(shaped->advantages == std::vector<double>{-2.0, -1.0, 0.0});
}

TEST_CASE("`shape of micro_batch` sees rollouts of several groups") {
  auto engine = engine_of(R"(
policy shaping
on shape of micro_batch b { set advantages = b.advantages - (mean(b.advantages) ?? 0), set weights = b.groups + 1.0 }
)", settings(2, 2));
  Driver driver(*engine, mixed);
  driver.generate(0, prompts(2));
  CHECK(engine->shapes_micro_batches());
  const auto shaped = engine->shape({{{1, 0}, {0, 1}, {1, 1}}, {1.0, 2.0, 3.0}, {}});
  REQUIRE(shaped);
  CHECK(shaped->advantages == std::vector<double>{-1.0, 0.0, 1.0});
  CHECK(shaped->weights == std::vector<double>{1.0, 2.0, 1.0});  // groups by first appearance, from 0
  CHECK_FALSE(engine->shape({{{7, 0}}, {1.0}, {}}));
  REQUIRE(engine->end_iteration());
}

TEST_CASE("without a `shape` handler advantages stay what they are") {
  auto engine = engine_of("", settings(1, 2));
  Driver driver(*engine, mixed);
  driver.generate(0, prompts(1));
  const auto shaped = engine->shape({{{0, 0}, {0, 1}}, {-1.0, 1.0}, {}});
  REQUIRE(shaped);
  CHECK(shaped->advantages == std::vector<double>{-1.0, 1.0});
  CHECK(shaped->weights.empty());
  CHECK_FALSE(engine->shapes_groups());
}

TEST_CASE("`replay` fills empty slots with earlier groups, the lowest key first, none too old") {
  auto engine = engine_of(R"(
policy replaying
on finish of group g {
  when g.flat then drop
  otherwise train
}
on replay of batch b { replay up to b.empty by g.age, max_age 2 iterations }
)", settings(2, 2));
  CHECK(engine->replay_age() == 2);
  // Two mixed groups in iteration 0, one in 1, none from then on.
  const auto run = [&](int iteration) {
    Driver driver(*engine, [&](const std::string& prompt, int sample) {
      const bool spread = iteration == 0 || (iteration == 1 && prompt == "p0");
      return steady(1, spread ? sample % 2 : 0);
    });
    return driver.run(iteration, prompts(2));
  };
  CHECK(run(0).replayed.empty());
  const IterationReport first = run(1);
  CHECK(first.trained == std::vector<int>{2});
  CHECK(first.replayed == std::vector<int>{0});      // one slot is empty; equal keys: the older
  const IterationReport second = run(2);
  CHECK(second.trained.empty());
  CHECK(second.replayed == std::vector<int>{2, 0});  // ages 1, 2 and 2
  CHECK_FALSE(second.skip_update);
  CHECK(run(3).replayed == std::vector<int>{2});     // those of iteration 0 are three iterations old
  CHECK(run(4).skip_update);
}

TEST_CASE("advantages of a group may be set by turn, and turns know what was seen before them") {
  auto engine = engine_of(R"(
policy by_turn
on finish of group g { train [0, 2] }
on shape of group g {
  set advantages = g.turn_samples * 10.0 + (g.turn_states ?? -1) + (g.turn_rewards ?? 0) / 4
}
)", settings(1, 3));
  // Two, one and three turns; every rollout begins with the same, then sees "a", "b", … by its own turns.
  Driver driver(*engine, [](const std::string&, int sample) { return steady(sample == 0 ? 2 : sample == 1 ? 1 : 3, sample); });
  driver.generate(0, prompts(1));
  const auto shaped = engine->shape_group({{{0, 0}, {0, 2}}, {0.5, 0.25}, {}});
  REQUIRE(shaped);
  REQUIRE(shaped->turns.size() == 2);
  // The samples times ten; 0 for what all see first and 1 for the driver's one observation; the reward where it ends.
  CHECK(shaped->turns[0] == std::vector<double>{0.0, 1.0});
  CHECK(shaped->turns[1] == std::vector<double>{20.0, 21.0, 21.5});
  CHECK(shaped->advantages == std::vector<double>{0.5, 0.25});
  REQUIRE(engine->end_iteration());
}

TEST_CASE("embeddings of a group and the Gram matrix of a micro-batch are what the host gave") {
  auto engine = engine_of(R"(
policy geometry
on finish of group g { train [0, 2] }
on shape of group g { set advantages = gram(g.embeddings) * [1.0 for r in g.rollouts] }
on shape of micro_batch b { set advantages = b.gram * b.advantages }
)", settings(1, 3));
  CHECK(engine->wants_embeddings());
  CHECK(engine->wants_gram());
  Driver driver(*engine, mixed);
  driver.generate(0, prompts(1));
  MicroBatch group{{{0, 0}, {0, 2}}, {0.5, 0.25}, {}};
  group.embeddings = {1, 2, 3, -1};
  const auto shaped = engine->shape_group(group);
  REQUIRE(shaped);
  // Rows (1, 2), zeros, (3, -1): 5 + 1 and 10 + 1.
  CHECK(shaped->advantages == std::vector<double>{6.0, 11.0});
  MicroBatch micro{{{0, 0}, {0, 2}}, {2.0, -1.0}, {4, 1, 1, 3}};
  const auto moved = engine->shape(micro);
  REQUIRE(moved);
  CHECK(moved->advantages == std::vector<double>{7.0, -1.0});
  REQUIRE(engine->end_iteration());
}
