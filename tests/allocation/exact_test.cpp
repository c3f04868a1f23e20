#include <catch2/catch.hpp>

#include "runtime/allocation/solve.h"
#include "runtime/math/probability.h"
#include "tests/allocation/problems.h"

using namespace allot::allocation;
using namespace allot::allocation::test;

namespace {
using Counts = std::vector<std::int64_t>;
}

TEST_CASE("any utilities: the total is the largest of all that fit, by trying them") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const auto items = 1 + random() % 4;
    const std::vector<Share> boxes = random_boxes(random, items);
    std::vector<double> table(items * 8);
    for (double& value : table) value = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
    const Utility utility = [&](std::int64_t item, std::int64_t count) {
      return table[static_cast<std::size_t>(item * 8 + count)];
    };
    const auto budget = static_cast<std::int64_t>(random() % 14);
    const auto found = exact(boxes, budget, utility);
    REQUIRE(found.has_value() == (least(boxes, budget) <= budget));
    if (!found) continue;
    REQUIRE(within(*found, budget));
    REQUIRE(value_of(*found, utility) == Approx(best_by_trying(boxes, budget, utility)).margin(1e-9));
  }
}

TEST_CASE("where utilities are concave it gives what the greedy one gives, ties included") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto items = 1 + random() % 5;
    std::vector<double> rates;
    for (std::size_t i = 0; i < items; ++i) rates.push_back(static_cast<double>(random() % 5) / 4.0);  // many are equal
    const Utility utility = [&](std::int64_t item, std::int64_t count) {
      return allot::math::mixed_prob(rates[static_cast<std::size_t>(item)], static_cast<int>(count));
    };
    const std::vector<Share> from_two = boxes(items, 2, 2 + static_cast<std::int64_t>(random() % 6));
    const auto budget = static_cast<std::int64_t>(2 * items + random() % 9);
    REQUIRE(counts(*exact(from_two, budget, utility)) == counts(*greedy(from_two, budget, utility)));
  }
}

TEST_CASE("a first unit that is worth nothing alone is bought for the second") {
  // Mixed with certainty at two, worth nothing at one: greed would stop at once.
  const Utility step = [](std::int64_t item, std::int64_t count) { return count >= 2 ? 1.0 + 0.1 * double(item) : 0.0; };
  CHECK(counts(*exact(boxes(3, 0, 4), 5, step)) == Counts{0, 2, 2});
  CHECK(counts(*greedy(boxes(3, 0, 4), 5, step)) == Counts{0, 0, 0});
}

TEST_CASE("the size of a problem is what it takes, and saturates") {
  const ExactSize small = exact_size(boxes(3, 1, 4), 7);
  CHECK(small.values == 12);  // 3 items of 4 counts
  CHECK(small.cells == 15);   // 3 items, 0..4 units above the lows
  CHECK(small.steps == 60);
  CHECK(exact_size(boxes(3, 0, INT64_MAX / 4), INT64_MAX / 2).cells == beyond);
  const ExactSize wide = exact_size(boxes(1, 0, INT64_MAX), 2);  // no count of anything wraps around
  CHECK(wide.cells == 3);
  CHECK(wide.steps == beyond);
  CHECK(wide.values == beyond);
}
