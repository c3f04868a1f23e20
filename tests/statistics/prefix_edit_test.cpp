#include "runtime/statistics/prefix_edit.h"

#include <catch2/catch.hpp>

#include "runtime/statistics/edit_distance.h"
#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

namespace {

constexpr Padding paddings[] = {Padding::Padded, Padding::Unpadded};
constexpr Scale scales[] = {Scale::Raw, Scale::Normalized};

// The plain log that every answer is recomputed from.
struct Log {
  struct Rollout {
    std::vector<Symbol> actions;
    bool ended = false;
    bool left_out = false;
  };
  std::vector<Rollout> rollouts;

  std::vector<RolloutActions> view() const {
    std::vector<RolloutActions> result;
    for (const Rollout& rollout : rollouts) {
      if (!rollout.left_out) result.push_back({rollout.actions, rollout.ended});
    }
    return result;
  }
};

void require_equal(const PrefixEdit& statistic, const Log& log, int prefix) {
  const std::vector<RolloutActions> view = log.view();
  for (const Padding padding : paddings) {
    for (const Scale scale : scales) {
      CAPTURE(prefix, padding == Padding::Padded, scale == Scale::Raw, view.size());
      // Bit for bit: both add whole numbers.
      REQUIRE(statistic.at(prefix, padding, scale) == group_prefix_edit(view, prefix, padding, scale));
    }
  }
}

// One random life of a group: rollouts join, advance out of step, end and fail.
void live(std::uint64_t seed, int limit) {
  Dice dice(seed);
  PrefixEdit statistic = limit > 0 ? PrefixEdit(limit) : PrefixEdit();
  const int checked_to = limit > 0 ? limit : 16;
  const int alphabet = 1 + dice.roll(5);
  const int most = 2 + dice.roll(9);
  Log log;
  for (int event = 0; event < 120; ++event) {
    const int kind = dice.roll(40);
    const auto count = static_cast<int>(log.rollouts.size());
    if (count == 0 || (count < most && kind < 8)) {
      CHECK(statistic.add_rollout() == count);
      log.rollouts.emplace_back();
      continue;
    }
    const int at = dice.roll(count);
    Log::Rollout& rollout = log.rollouts[static_cast<std::size_t>(at)];
    if (rollout.ended || rollout.left_out) continue;
    if (kind == 39) {
      statistic.leave_out(at);
      rollout.left_out = true;
    } else if (kind > 35) {
      statistic.end(at);
      rollout.ended = true;
    } else {
      const Symbol action = 1 + dice.roll(alphabet);
      statistic.append(at, action);
      rollout.actions.push_back(action);
    }
    for (int prefix = 0; prefix <= checked_to; ++prefix) require_equal(statistic, log, prefix);
  }
}

}  // namespace

TEST_CASE("the kept distances equal a recomputation after every event") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) live(seed, 0);
}

TEST_CASE("the kept distances equal a recomputation where the prefix length is declared") {
  for (std::uint64_t seed = 100; seed < 160; ++seed) live(seed, 1 + static_cast<int>(seed % 7));
}

TEST_CASE("long rollouts in step, over several words") {
  Dice dice(3);
  PrefixEdit statistic;
  Log log;
  for (int i = 0; i < 9; ++i) {
    statistic.add_rollout();
    log.rollouts.emplace_back();
  }
  for (int turn = 1; turn <= 140; ++turn) {
    for (int i = 0; i < 9; ++i) {
      Log::Rollout& rollout = log.rollouts[static_cast<std::size_t>(i)];
      if (rollout.ended) continue;
      const Symbol action = 1 + (dice.roll(4) > 0 ? turn % 30 : dice.roll(30));
      statistic.append(i, action);
      rollout.actions.push_back(action);
      if (turn == 40 + 13 * i) {
        statistic.end(i);
        rollout.ended = true;
      }
    }
    if (turn % 9 == 0) require_equal(statistic, log, turn);
  }
  for (const int prefix : {1, 63, 64, 65, 128, 140, 200}) require_equal(statistic, log, prefix);
}

TEST_CASE("a settled prefix is not moved by later actions") {
  PrefixEdit statistic(2);
  for (int i = 0; i < 2; ++i) statistic.add_rollout();
  for (const Symbol action : {5, 6}) statistic.append(0, action);
  CHECK_FALSE(statistic.at(2, Padding::Padded, Scale::Raw));  // the other one has not arrived
  for (const Symbol action : {5, 7}) statistic.append(1, action);
  const auto settled = statistic.at(2, Padding::Padded, Scale::Raw);
  CHECK(settled == PairSummary{1, 1, 1});
  for (const Symbol action : {8, 9, 10}) statistic.append(0, action);
  statistic.end(1);
  CHECK(statistic.at(2, Padding::Padded, Scale::Raw) == settled);
}

TEST_CASE("a group of one has no pairs, and a rollout in error leaves none behind") {
  PrefixEdit statistic(1);
  statistic.add_rollout();
  statistic.append(0, 5);
  CHECK_FALSE(statistic.at(1, Padding::Padded, Scale::Normalized));
  statistic.add_rollout();
  statistic.append(1, 6);
  CHECK(statistic.at(1, Padding::Padded, Scale::Normalized)->mean == 1.0);
  statistic.leave_out(1);
  CHECK_FALSE(statistic.at(1, Padding::Padded, Scale::Normalized));
}
