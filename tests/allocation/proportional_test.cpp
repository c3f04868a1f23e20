#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/allocation/solve.h"
#include "tests/allocation/problems.h"

using namespace allot::allocation;
using namespace allot::allocation::test;

namespace {

using Counts = std::vector<std::int64_t>;

Counts shared(const std::vector<Share>& boxes, std::int64_t budget, const std::vector<double>& weights) {
  return counts(*proportional(boxes, budget, [&](std::int64_t i) { return weights[static_cast<std::size_t>(i)]; }));
}

}  // namespace

TEST_CASE("largest remainders: the textbook case of Hamilton's method") {
  // 100 seats for 21 878, 9 713, 4 167, 3 252, 1 065: quotas 54.60…, 24.24…, 10.40…, 8.11…, 2.65… by division.
  CHECK(shared(boxes(5, 0, 100), 100, {21878, 9713, 4167, 3252, 1065}) == Counts{55, 24, 10, 8, 3});
}

TEST_CASE("equal remainders go to the lower item, and whole quotas stay whole") {
  CHECK(shared(boxes(3, 0, 9), 4, {1, 1, 1}) == Counts{2, 1, 1});
  CHECK(shared(boxes(3, 0, 9), 5, {1, 1, 1}) == Counts{2, 2, 1});
  CHECK(shared(boxes(3, 0, 9), 10, {0.1, 0.3, 0.6}) == Counts{1, 3, 6});
}

TEST_CASE("bounds hold and what they take or leave goes to the others") {
  CHECK(shared(boxes(3, 0, 4), 9, {8, 1, 1}) == Counts{4, 3, 2});  // 4, then 5 in halves: 2.5 and 2.5
  CHECK(shared(boxes(3, 2, 9), 9, {8, 1, 1}) == Counts{5, 2, 2});
  CHECK(shared(boxes(2, 0, 3), 9, {1, 5}) == Counts{3, 3});  // 3 are left
  CHECK(shared(boxes(3, 1, 9), 9, {0, 1, 0}) == Counts{1, 7, 1});
  CHECK(shared(boxes(3, 0, 9), 9, {0, 0, 0}) == Counts{0, 0, 0});
}

TEST_CASE("every share lies within one of its quota, and no unit is left where there is room") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const auto items = 1 + random() % 6;
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t i = 0; i < items; ++i) {
      weights.push_back(1 + static_cast<double>(random() % 1000));
      sum += weights.back();
    }
    const auto budget = static_cast<std::int64_t>(random() % 50);
    const Counts found = shared(boxes(items, 0, 100), budget, weights);
    std::int64_t given = 0;
    for (std::size_t i = 0; i < items; ++i) {
      given += found[i];
      REQUIRE(std::fabs(static_cast<double>(found[i]) - static_cast<double>(budget) * weights[i] / sum) < 1.0);
    }
    REQUIRE(given == budget);
    const std::vector<Share> tight = random_boxes(random, items);
    const auto bounded = proportional(tight, budget, [&](std::int64_t i) { return weights[std::size_t(i)]; });
    if (!bounded) continue;
    REQUIRE(within(*bounded, budget));
    REQUIRE(spent(*bounded) == std::min(budget, least(tight, budget) + room(tight, 1000)));
  }
}
