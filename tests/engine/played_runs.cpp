#include "tests/engine/played_runs.h"

#include <algorithm>

#include <limits>

#include <catch2/catch.hpp>

#include "runtime/math/random.h"

namespace allot::engine::bench {
namespace {

// A rollout is a function of its prompt and sample alone.
Course course_of(const std::string& prompt, int sample) {
  const std::uint64_t key = math::hash_text(prompt);
  const auto low = static_cast<std::uint64_t>(sample);
  Course course;
  const int turns = 1 + static_cast<int>(math::below(5, key, 1, low));
  for (int turn = 0; turn < turns; ++turn) {
    course.actions.push_back(fmt::format("a{}", math::below(3, key, 2, low * 100 + static_cast<std::uint64_t>(turn))));
  }
  course.calls = static_cast<int>(math::below(2, key, 4, low));
  course.tokens = 5 + static_cast<int>(math::below(11, key, 5, low));
  course.answer = fmt::format("answer \"{}\" — {}", math::below(2, key, 6, low), prompt);
  switch (math::below(9, key, 3, low)) {
    case 0: course.status = Status::Error; break;
    case 1: course.status = Status::Timeout; break;
    case 2: course.reward = std::numeric_limits<double>::quiet_NaN(); break;
    case 3: course.reward = 0.1 + 0.2; break;
    default: course.reward = static_cast<double>(math::below(2, key, 7, low));
  }
  return course;
}

const char* const learning = R"(
policy learning
param size: rollouts = 6
hit when reward >= 1
budget 300 rollouts per run
budget 900 tokens per iteration, carry over
refill at most 4 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.9
state total: real per run = 0
state looks: int per group = 0
on size of batch b { start 3 each, up to size }
on turn 3 of group g {
  remember looks = looks + 1
  report divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, 3, padded))
  when (mean_pairwise(normalized_edit_distance, prefixes(g.actions, 3, padded)) ?? 1) < 0.75 and draw("gate") < 0.7
    then stop, drop, refill because "close: {looks}"
  otherwise continue
}
on wave of group g {
  when g.hits >= 2 and beta_mean(belief[g.prompt]) < 0.9 then complete to size
  when g.started < 5 then sample 1 more
  otherwise stop
}
on finish of group g {
  when g.flat then drop, refill because "{looks} looks of {g.prompt}, {belief[g.prompt]}"
  otherwise train top(g.rewards, 3)
}
on update of batch b {
  for each g in b.ended { remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }
  remember total = total + sum(g.reward_mean ?? 0 for g in b.ended)
}
)";

const char* const choosing = R"(
policy choosing
hit when reward >= 1
refill at most 3 rounds then train_partial
state seen: int per prompt = 0
state liked: real per category = 0.5 decay 0.9
on select of pool p { take 2 * p.slots by liked[q.category] - (q.reward_mean ?? 0) }
on size of batch b { start 2 each, up to 4 }
on wave 1 of group g {
  let rate = g.hit_rate ?? 0
  when rate >= 1.0 then stop, drop, refill, evict until epoch + 1
  when rate <= 0 then stop, drop, refill because "rate {rate}"
  otherwise defer at most 2 iterations, refill
}
on resume of group g by -(g.reward_std ?? 0), g.age { complete to 4 }
on finish of group g { train }
on update of batch b {
  for each g in b.ended {
    remember seen[g.prompt] = seen[g.prompt] + 1
    remember liked[g.category] = liked[g.category] + 0.1
  }
}
on epoch of pool p { evict where q.groups > 3 groups until epoch + 1, readmit where q.groups > 5 groups }
)";

const char* const shaping = R"(
policy shaping
on every turn of rollout r { when r.turns >= 4 then stop }
on score of rollout r { set reward = r.reward * 2 }
on wave of batch b { complete to [4 for g in b.groups] }
on finish of group g {
  when g.flat then drop
  otherwise train
}
on shape of group g { set advantages = [(a ?? 0) * 2 for a in g.advantages] }
on shape of micro_batch b { set advantages = b.advantages - (mean(b.advantages) ?? 0), set weights = b.groups + 1.0 }
on replay of batch b { replay up to b.empty by g.age, max_age 2 iterations }
)";

const char* const faulty = R"(
policy faulty
on turn 2 of group g {
  when 6 / (g.tokens mod 7) > 1 then stop because "{g.tokens} tokens"
  otherwise continue
}
on result of group g { report share = g.scored / g.started }
on finish of group g {
  report broken = 1 / (g.scored mod 3)
  when g.scored mod 2 == 1 rollouts then drop
  otherwise train
}
)";

const char* const timed = R"(
policy timed
budget 2 seconds per iteration
budget 4000 calls per run
on finish of group g {
  when budget.seconds.left < 1.0 seconds then drop because "{budget.seconds.left} s are left"
  otherwise train
}
)";

}  // namespace

std::vector<PlayedRun> played_runs() {
  return {{.name = "learning", .policy = learning},
          {.name = "held out", .policy = learning, .holdout = 0.3},
          {.name = "shadow", .policy = learning, .shadow = true},
          {.name = "choosing", .policy = choosing, .with_pool = true},
          {.name = "shaping", .policy = shaping, .with_shapes = true},
          {.name = "faulty", .policy = faulty},
          {.name = "timed", .policy = timed, .seconds_an_event = 0.037},
          {.name = "no policy", .policy = ""}};
}

PlayedRun played_run(const std::string& name) {
  const std::vector<PlayedRun> runs = played_runs();
  return *std::find_if(runs.begin(), runs.end(), [&](const PlayedRun& run) { return run.name == name; });
}

namespace {

void shape(Engine& engine) {
  const std::vector<int> trained = engine.preview().trained;
  MicroBatch all;
  for (const int group : trained) {
    const MicroBatch own{{{group, 0}, {group, 1}}, {0.5, -0.25}, {}};
    auto shaped = engine.shape_group(own);
    if (!shaped) FAIL(shaped.error().text());
    all.rollouts.insert(all.rollouts.end(), own.rollouts.begin(), own.rollouts.end());
    all.advantages.insert(all.advantages.end(), shaped->advantages.begin(), shaped->advantages.end());
  }
  auto shaped = engine.shape(all);
  if (!shaped) FAIL(shaped.error().text());
}

}  // namespace

void play(const PlayedRun& run, const Folder& folder, int from, int to, std::uint64_t order, const Through& through) {
  Settings made = settings(3, 4);
  made.run_folder = folder.path();
  made.holdout = run.holdout;
  made.shadow = run.shadow;
  double time = 0;
  if (run.seconds_an_event > 0) made.clock = [&time, &run] { return time += run.seconds_an_event; };
  const auto own = engine_of(run.policy, made);
  const std::unique_ptr<Engine> between = through ? through(*own) : nullptr;
  Engine* const engine = between ? between.get() : own.get();
  if (from > 0) {
    auto restored = own->restore_from(folder.path());
    if (!restored) FAIL(restored.error().text());
  }
  for (int iteration = from; iteration < to; ++iteration) {
    if (run.with_pool) {
      std::vector<PoolPrompt> pool;
      for (const std::string& key : prompts(12)) pool.push_back({key, pool.size() % 2 == 0 ? "even" : "odd"});
      REQUIRE(engine->set_pool(pool));
    }
    Driver driver(*engine, course_of, order + static_cast<std::uint64_t>(iteration));
    driver.generate(iteration, prompts(12));
    if (run.with_shapes) shape(*engine);
    auto report = engine->end_iteration();
    if (!report) FAIL(report.error().text());
  }
}

}  // namespace allot::engine::bench
