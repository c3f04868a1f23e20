#include "runtime/statistics/edit_distance.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

namespace {

using Actions = std::vector<Symbol>;

// The recursive definition, without a table.
int by_definition(std::span<const Symbol> a, std::span<const Symbol> b) {
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  const int replaced = by_definition(a.subspan(1), b.subspan(1)) + (a[0] == b[0] ? 0 : 1);
  return std::min({replaced, by_definition(a.subspan(1), b) + 1, by_definition(a, b.subspan(1)) + 1});
}

}  // namespace

TEST_CASE("the distance is the one of the recursive definition, and symmetric") {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    const Actions a = dice.actions(dice.roll(7), 3);
    const Actions b = dice.actions(dice.roll(7), 3);
    CHECK(edit_distance(a, b) == by_definition(a, b));
    CHECK(edit_distance(b, a) == by_definition(a, b));
  }
}

TEST_CASE("the distance obeys the triangle inequality and its bounds") {
  Dice dice(2);
  for (int round = 0; round < 300; ++round) {
    const Actions a = dice.actions(dice.roll(20), 4);
    const Actions b = dice.actions(dice.roll(20), 4);
    const Actions c = dice.actions(dice.roll(20), 4);
    const auto longer = static_cast<int>(std::max(a.size(), b.size()));
    const auto shorter = static_cast<int>(std::min(a.size(), b.size()));
    CHECK(edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c));
    CHECK(edit_distance(a, b) <= longer);
    CHECK(edit_distance(a, b) >= longer - shorter);
  }
}

TEST_CASE("normalising divides by the longer length, and two empty sequences are equal") {
  CHECK(normalized_edit_distance(Actions{}, Actions{}) == 0.0);
  CHECK(normalized_edit_distance(Actions{}, Actions{5, 6, 7}) == 1.0);
  CHECK(normalized_edit_distance(Actions{5, 6, 7, 8}, Actions{6, 7, 8, 9}) == 0.5);  // vector edit.pair.1
}

// allocation.md §3: (b c), (a b c), (a) at K = 4 have mean 0.5 padded and 2/3 unpadded.
TEST_CASE("padding changes the distance of rollouts that ended early") {
  const Actions a = {3, 4};
  const Actions b = {2, 3, 4};
  const Actions c = {2};
  const std::vector<RolloutActions> group = {{a}, {b}, {c}};
  CHECK(group_prefix_edit(group, 4, Padding::Padded, Scale::Normalized)->mean == 0.5);
  CHECK(group_prefix_edit(group, 4, Padding::Unpadded, Scale::Normalized)->mean == Approx(2.0 / 3.0).epsilon(1e-15));
}

// allocation.md §3, worked examples: seven equal rollouts and one that differs in m of 10 actions have m/40.
TEST_CASE("the threshold's worked example is the double nearest to it") {
  const Actions plan = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (int m = 0; m <= 10; ++m) {
    Actions other = plan;
    for (int i = 0; i < m; ++i) other[static_cast<std::size_t>(9 - i)] = 100 + i;
    std::vector<RolloutActions> group(7, RolloutActions{plan, false});
    group.push_back({other, false});
    CHECK(group_prefix_edit(group, 10, Padding::Padded, Scale::Normalized)->mean == m / 40.0);
  }
}

TEST_CASE("a group without pairs and a prefix that a live rollout has not reached have no distance") {
  const Actions a = {2, 3};
  const std::vector<RolloutActions> alone = {{a}};
  CHECK_FALSE(group_prefix_edit(alone, 2, Padding::Padded, Scale::Raw));
  CHECK_FALSE(group_prefix_edit({}, 2, Padding::Padded, Scale::Raw));
  const std::vector<RolloutActions> running = {{a, true}, {a, false}};
  CHECK(group_prefix_edit(running, 2, Padding::Padded, Scale::Raw)->mean == 0.0);
  CHECK_FALSE(group_prefix_edit(running, 3, Padding::Padded, Scale::Raw));
  CHECK_FALSE(group_prefix_edit(running, 3, Padding::Unpadded, Scale::Raw));
}
