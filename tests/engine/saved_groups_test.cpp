// What groups that wait and histories of prompts carry over a resume: every number that a host may tell, and all that was
// said of a group before.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/engine/bench.h"
#include "tests/engine/folder.h"
#include "tests/engine/journal_lines.h"

using namespace allot;
using namespace allot::engine;
using bench::Driver;
using bench::engine_of;
using bench::prompts;
using bench::settings;
using bench::steady;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();

// One group of two rollouts; `said` makes it wait, and the next iteration completes it to four.
std::string waiting(const std::string& said) {
  return "policy waiting\nrefill at most 2 rounds then train_partial\non select of pool p { take 1 }\n"
         "on size of batch b { start 2 each, up to 4 }\n" + said + "on resume of group g by g.age { complete to 4 }\n";
}
const std::string plain = "on wave 1 of group g { defer at most 4 iterations, leave }\n";

bench::Course course_of(const std::string&, int sample) { return steady(1, sample % 2); }

void play_one(Engine& engine, int sample, double logprob, double entropy) {
  Turn turn;
  turn.action = "look";
  turn.tokens = 10;
  turn.logprob = logprob;
  turn.entropy = entropy;
  turn.last = true;
  REQUIRE(engine.turn({0, sample}, turn));
  Ending ending;
  ending.reward = sample;
  REQUIRE(engine.ended({0, sample}, ending));
}

}  // namespace

TEST_CASE("log-probabilities and entropies that are no finite numbers are saved with a group that waits") {
  auto engine = engine_of(waiting(plain), settings(1, 2));
  REQUIRE(engine->begin_iteration(0, prompts(1)));
  play_one(*engine, 0, -infinity, none);  // a masked token, and 0 · log 0
  play_one(*engine, 1, infinity, 0.5);
  REQUIRE(engine->end_iteration());
  const std::string state = engine->save_state();

  auto resumed = engine_of(waiting(plain), settings(1, 2));
  if (auto restored = resumed->restore(state); !restored) FAIL(restored.error().text());
  const GroupLog* const log = resumed->group_log(0);
  REQUIRE(log != nullptr);
  REQUIRE(log->rollouts.size() == 2);
  CHECK(log->rollouts[0].logprob == -infinity);
  CHECK(std::isnan(log->rollouts[0].entropy));
  CHECK(log->rollouts[1].logprob == infinity);
  CHECK(log->rollouts[1].entropy == 0.5);
  REQUIRE(log->rollouts[0].each_turn.size() == 1);
  CHECK(log->rollouts[0].each_turn[0].logprob == -infinity);
  CHECK(std::isnan(log->rollouts[0].each_turn[0].entropy));
  CHECK(resumed->save_state() == state);
  Driver driver(*resumed, course_of);
  driver.run(1, {});
  REQUIRE(driver.closed.size() == 1);
  CHECK(driver.closed.front().subset == std::vector<int>{0, 1, 2, 3});

  // As an older program wrote it: null for all of these numbers, and nothing of what was said.
  auto old = nlohmann::ordered_json::parse(state);
  auto& group = old["waiting"][0];
  group.erase("verdict");
  auto& rollout = group["rollouts"][0];
  rollout["logprob"] = rollout["entropy"] = nullptr;
  rollout["turns"][0][1] = rollout["turns"][0][2] = nullptr;
  auto later = engine_of(waiting(plain), settings(1, 2));
  if (auto restored = later->restore(bench::sealed(old)); !restored) FAIL(restored.error().text());
  REQUIRE(later->group_log(0) != nullptr);
  CHECK(std::isnan(later->group_log(0)->rollouts[0].logprob));
  CHECK(later->group_log(0)->rollouts[1].entropy == 0.5);
}

TEST_CASE("rewards whose squares lie beyond a double leave a history that is saved and comes back") {
  constexpr double most = 1.7e308;
  PromptHistory history;
  history.add(most);
  history.add(-most);
  CHECK(history.reward_mean == 0);  // (most − most) / 2
  CHECK(history.reward_squares == infinity);  // 2 · most²

  const char* const looking = "policy looking\nhit when reward >= 1\nstate rate: real per prompt = 0.0\non finish of group g { train }\n"
                              "on update of pool p {\n  for each q in p.known { remember rate[q] = q.hit_rate ?? 0 }\n}\n";
  const bench::Folder folder;
  Settings made = settings(1, 2);
  made.run_folder = folder.path();
  std::string state;
  {
    auto engine = engine_of(looking, made);
    Driver driver(*engine, [&](const std::string&, int sample) { return steady(1, sample == 0 ? most : -most); });
    driver.run(0, prompts(1));
    state = engine->save_state();
  }
  auto from_folder = engine_of(looking, made), from_text = engine_of(looking, settings(1, 2));
  if (auto restored = from_folder->restore_from(folder.path()); !restored) FAIL(restored.error().text());
  if (auto restored = from_text->restore(state); !restored) FAIL(restored.error().text());
  for (const auto* const engine : {&from_folder, &from_text}) {
    const PromptHistory& known = (*engine)->pool().history("p0");
    CHECK(known.scored == 2);
    CHECK(known.reward_mean == 0);
    CHECK(known.reward_squares == infinity);
  }
}

TEST_CASE("what was said of a group before it waited holds after a resume, as in the run that was not interrupted") {
  struct Case {
    std::string said;
    std::vector<int> subset;
    NormalizeOver over;
    std::size_t rollouts;
  };
  const std::vector<Case> cases = {
      {"on result of group g {\n  when g.scored == 1 then continue, train [0] because \"the first alone\"\n  otherwise continue\n}\n" + plain,
       {0}, NormalizeOver::Subset, 4},
      {"on wave 1 of group g { sample 1 more, train [0, 1], normalize over group }\n"
       "on wave 2 of group g { defer at most 4 iterations, leave }\n",
       {0, 1}, NormalizeOver::Group, 4},
      // Nothing more is started after a stop.
      {"on wave 1 of group g { stop, defer at most 4 iterations, leave }\n", {0, 1}, NormalizeOver::Subset, 2},
  };
  for (const Case& each : cases) {
    for (const bool cut : {false, true}) {
      INFO(each.said << (cut ? "resumed" : "not interrupted"));
      auto engine = engine_of(waiting(each.said), settings(1, 2));
      Driver before(*engine, course_of);
      before.run(0, prompts(1));
      REQUIRE(before.deferred.size() == 1);
      if (cut) {
        const std::string state = engine->save_state();
        engine = engine_of(waiting(each.said), settings(1, 2));
        if (auto restored = engine->restore(state); !restored) FAIL(restored.error().text());
      }
      Driver after(*engine, course_of);
      after.run(1, {});
      REQUIRE(after.closed.size() == 1);
      CHECK(after.closed.front().fate == Fate::Trained);
      CHECK(after.closed.front().subset == each.subset);
      CHECK(after.closed.front().normalize == each.over);
      CHECK(after.closed.front().rewards.size() == each.rollouts);
    }
  }
}
