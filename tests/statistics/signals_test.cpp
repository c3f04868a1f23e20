#include "runtime/statistics/signals.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "runtime/math/elementary.h"
#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

namespace {

using Actions = std::vector<Symbol>;

const Actions two = {2, 3};
const Actions three = {2, 3, 4};
const Actions five = {2, 3, 4, 5, 6};
// Vector signals.g4t.k4: at turn 4 two of four have ended.
const std::vector<RolloutActions> four = {{two}, {three}, {five}, {five}};

}  // namespace

TEST_CASE("ended rollouts show END, which counts") {
  CHECK(unique_prefix_ratio(four, 4) == 0.75);
  CHECK(unique_action_ratio(four, 4) == 0.5);
  CHECK(agreement(four, 4) == 0.5);
  CHECK(finished_fraction(four, 4) == 0.5);
  CHECK(finished_fraction(four, 2) == 0.0);  // exactly two actions: not finished before turn 2
  CHECK(finished_fraction(four, 3) == 0.25);
  CHECK(action_entropy(four, 4, EntropyUnit::Bits) == 1.0);
  CHECK(action_entropy(four, 4, EntropyUnit::Nats).value() == Approx(0.6931471805599453).epsilon(1e-15));
  CHECK(action_entropy(four, 4, EntropyUnit::Normalized).value() == Approx(0.5).epsilon(1e-15));
}

TEST_CASE("everything at a turn is undefined where a live rollout has not reached it, and for no rollout") {
  const std::vector<RolloutActions> running = {{five, false}, {two, false}};
  for (const auto& group : {running, std::vector<RolloutActions>{}}) {
    CHECK_FALSE(unique_prefix_ratio(group, 3));
    CHECK_FALSE(unique_action_ratio(group, 3));
    CHECK_FALSE(agreement(group, 3));
    CHECK_FALSE(finished_fraction(group, 3));
    CHECK_FALSE(action_entropy(group, 3, EntropyUnit::Bits));
    CHECK_FALSE(bigram_jaccard(group, 3, Padding::Padded));
  }
  CHECK(unique_action_ratio(running, 2) == 0.5);
}

TEST_CASE("a group of one agrees with itself, has no entropy and no pairs") {
  const std::vector<RolloutActions> alone = {{five}};
  CHECK(unique_prefix_ratio(alone, 3) == 1.0);
  CHECK(agreement(alone, 3) == 1.0);
  CHECK(action_entropy(alone, 3, EntropyUnit::Normalized) == 0.0);
  CHECK_FALSE(bigram_jaccard(alone, 3, Padding::Padded));
}

// By hand: the bigrams are {23}, {23, 34} and {23, 34, 45} twice.
TEST_CASE("bigram distance is one less the share of common pairs") {
  const PairSummary summary = bigram_jaccard(four, 4, Padding::Unpadded).value();
  CHECK(summary.mean == Approx((1 / 2.0 + 2 * (2 / 3.0) + 2 * (1 / 3.0) + 0) / 6).epsilon(1e-15));
  CHECK(summary.min == 0.0);
  CHECK(summary.max == Approx(2 / 3.0).epsilon(1e-15));
  const Actions one = {2};
  const std::vector<RolloutActions> short_ones = {{one}, {one}};
  CHECK(bigram_jaccard(short_ones, 5, Padding::Unpadded)->mean == 0.0);
}

TEST_CASE("signals of random groups agree with counting symbol by symbol") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    std::vector<Actions> actions;
    for (int i = 0, count = 1 + dice.roll(9); i < count; ++i) actions.push_back(dice.actions(dice.roll(8), 3));
    std::vector<RolloutActions> group;
    for (const Actions& list : actions) group.push_back({list});
    const int turn = 1 + dice.roll(9);

    std::map<Symbol, double> counts;
    std::set<Actions> prefixes;
    double ended = 0;
    for (const Actions& list : actions) {
      const bool there = static_cast<int>(list.size()) >= turn;
      counts[there ? list[static_cast<std::size_t>(turn) - 1] : end_symbol] += 1;
      ended += there ? 0 : 1;
      prefixes.insert(Actions(list.begin(), list.begin() + std::min<std::ptrdiff_t>(turn, std::ssize(list))));
    }
    const auto size = static_cast<double>(group.size());
    double most = 0;
    double bits = 0;
    for (const auto& [symbol, times] : counts) {
      most = std::max(most, times);
      bits += times / size * allot::math::log2(size / times);
    }
    CHECK(unique_action_ratio(group, turn) == static_cast<double>(counts.size()) / size);
    CHECK(unique_prefix_ratio(group, turn) == static_cast<double>(prefixes.size()) / size);
    CHECK(agreement(group, turn) == most / size);
    CHECK(finished_fraction(group, turn) == ended / size);
    CHECK(action_entropy(group, turn, EntropyUnit::Bits).value() == Approx(bits).margin(1e-12));
    CHECK(action_entropy(group, turn, EntropyUnit::Normalized).value() <= 1.0);
  }
}

// Vectors repeat.*, and by hand.
TEST_CASE("repetition is the share of n-grams seen before") {
  CHECK(repetition(Actions{5, 5, 5, 5, 5}, 1) == 0.8);
  CHECK(repetition(Actions{5, 6, 5, 6, 5}, 2) == 0.5);
  CHECK(repetition(Actions{5}, 2) == 0.0);
  CHECK(repetition(Actions{}, 1) == 0.0);
}

TEST_CASE("a loop is the last turns seen before, with their observations") {
  using Turns = std::vector<Exchange>;
  CHECK(loops(Turns{{5, 1}, {6, 2}, {5, 1}}, 1));
  CHECK_FALSE(loops(Turns{{5, 1}, {6, 2}, {5, 3}}, 1));  // the world answered otherwise
  CHECK(loops(Turns{{5, 1}, {6, 2}, {7, 3}, {5, 1}, {6, 2}}, 2));
  CHECK_FALSE(loops(Turns{{5, 1}, {6, 2}, {7, 3}, {6, 2}, {5, 1}}, 2));
  CHECK(loops(Turns{{5, 1}, {5, 1}, {5, 1}}, 2));  // overlapping
  CHECK_FALSE(loops(Turns{{5, 1}, {6, 2}}, 2));
  CHECK_FALSE(loops(Turns{}, 1));
}
