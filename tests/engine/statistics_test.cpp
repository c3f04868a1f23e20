// What is kept turn by turn equals what is rebuilt from the log, and only what the program reads is kept.
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/kept_statistics.h"
#include "tests/engine/bench.h"

using namespace allot;
using namespace allot::engine;

namespace {

lang::ReadKey pairwise(lang::Fact fact, const std::string& distance, int length, const std::string& padding) {
  lang::ReadKey key;
  key.fact = fact;
  key.arguments = {{lang::ReadArgument::Kind::Word, distance, 0},
                   {lang::ReadArgument::Kind::Integer, "", length},
                   {lang::ReadArgument::Kind::Word, padding, 0}};
  return key;
}

lang::Program reading(std::vector<lang::ReadKey> keys) {
  lang::Program program;
  program.handlers.emplace_back();
  program.handlers.back().reads = std::move(keys);
  return program;
}

}  // namespace

TEST_CASE("incremental and rebuilt statistics are the same bits, whatever happened to the rollouts") {
  std::mt19937_64 random(4);
  std::vector<lang::ReadKey> keys;
  for (const int length : {1, 3, 6}) {
    for (const std::string distance : {"edit_distance", "normalized_edit_distance", "bigram_jaccard"}) {
      for (const std::string padding : {"padded", "unpadded"}) {
        keys.push_back(pairwise(lang::Fact::PairwiseMean, distance, length, padding));
        keys.push_back(pairwise(lang::Fact::PairwiseMin, distance, length, padding));
        keys.push_back(pairwise(lang::Fact::PairwiseMax, distance, length, padding));
      }
    }
  }
  const lang::Program program = reading(keys);
  const StatisticsPlan plan = StatisticsPlan::of(program, {});
  CHECK(plan.longest_edit_prefix == 6);
  const StatisticsPlan shorter = StatisticsPlan::of(reading({pairwise(lang::Fact::PairwiseMean, "edit_distance", 3, "padded")}), {});
  int defined = 0;
  for (int history = 0; history < 60; ++history) {
    GroupLog log;
    KeptStatistics kept(plan);
    for (int step = 0; step < 60; ++step) {
      const int size = static_cast<int>(log.rollouts.size());
      if (size < 5 && random() % 8 == 0) {
        log.rollouts.emplace_back();
        kept.started();
        continue;
      }
      if (size == 0) continue;
      const int sample = static_cast<int>(random() % static_cast<std::uint64_t>(size));
      RolloutLog& rollout = log.rollouts[static_cast<std::size_t>(sample)];
      if (!rollout.outstanding()) continue;
      const auto what = random() % 20;
      if (what < 17 && rollout.live()) {
        Turn turn;
        turn.action = fmt::format("a{}", random() % 3);
        turn.last = what == 16;
        log.append(sample, turn, false);
        kept.took_turn(log, sample);
      } else if (what == 17) {
        rollout.status = Status::Error;
        rollout.last_turn = false;
        kept.left_out(sample);
      } else if (what == 18) {
        rollout.status = Status::Completed;
        rollout.last_turn = false;
        kept.ended(sample);
      }
      const KeptStatistics rebuilt = KeptStatistics::rebuild(plan, log);
      if (step == 30) {  // a version that asks for less goes, and the one that asks for all comes back
        kept = KeptStatistics::rebuild(shorter, log);
        kept.cover(plan, log);
        kept.cover(shorter, log);
      }
      for (const lang::ReadKey& key : keys) {
        const auto value = kept.group_fact(key, {}, log, 0);
        defined += value.has_value();
        if (value != rebuilt.group_fact(key, {}, log, 0)) FAIL("history " << history << ", step " << step);
      }
    }
  }
  CHECK(defined > 10'000);
}

TEST_CASE("nothing is kept that no handler reads") {
  const StatisticsPlan none = StatisticsPlan::of(reading({}), {});
  CHECK_FALSE(none.longest_edit_prefix);
  CHECK_FALSE(none.observations);
  lang::ReadKey loop;
  loop.fact = lang::Fact::Loop;
  loop.arguments = {{lang::ReadArgument::Kind::Integer, "", 2}};
  CHECK(StatisticsPlan::of(reading({loop}), {}).observations);
  // Of groups that are trained on once more two points ask.
  for (const lang::Point point : {lang::Point::Finish, lang::Point::Update, lang::Point::Replay, lang::Point::Shape}) {
    lang::Program asking = reading({loop});
    asking.handlers.back().point = point;
    const bool of_replayed = point == lang::Point::Replay || point == lang::Point::Shape;
    CHECK(StatisticsPlan::of(asking, {}).replayed_observations == of_replayed);
  }
  lang::ReadKey current = pairwise(lang::Fact::PairwiseMean, "edit_distance", 0, "padded");
  current.arguments[1] = {lang::ReadArgument::Kind::CurrentTurn, "", 0};
  CHECK(StatisticsPlan::of(reading({current}), {}).longest_edit_prefix == std::numeric_limits<int>::max());
}
