#include <catch2/catch.hpp>

#include "runtime/allocation/solve.h"
#include "runtime/math/beta.h"
#include "tests/allocation/problems.h"

using namespace allot::allocation;
using namespace allot::allocation::test;

namespace {

using Counts = std::vector<std::int64_t>;

// Concave on purpose: differences that fall by a factor below 1.
struct Geometric {
  std::vector<double> first, ratio;
  double operator()(std::int64_t item, std::int64_t count) const {
    const auto i = static_cast<std::size_t>(item);
    double sum = 0;
    double gain = first[i];
    for (std::int64_t k = 0; k < count; ++k, gain *= ratio[i]) sum += gain;
    return sum;
  }
};

Geometric random_geometric(std::mt19937& random, std::size_t items) {
  Geometric made;
  for (std::size_t i = 0; i < items; ++i) {
    made.first.push_back(static_cast<double>(random() % 1000) / 1000.0);
    made.ratio.push_back(static_cast<double>(random() % 1000) / 1000.0);
  }
  return made;
}

}  // namespace

TEST_CASE("the greedy total is the largest of all that fit, by trying them") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto items = 1 + random() % 4;
    const std::vector<Share> boxes = random_boxes(random, items);
    const Geometric utility = random_geometric(random, items);
    const auto budget = static_cast<std::int64_t>(random() % 14);
    const auto found = greedy(boxes, budget, utility);
    REQUIRE(found.has_value() == (least(boxes, budget) <= budget));
    if (!found) continue;
    REQUIRE(within(*found, budget));
    REQUIRE(value_of(*found, utility) == Approx(best_by_trying(boxes, budget, utility)).margin(1e-9));
    REQUIRE(total(*found) == Approx(value_of(*found, utility)).margin(1e-12));
  }
}

TEST_CASE("a gain that two beliefs reach by different sums is a tie and goes to the lower item") {
  // The second unit of beta(5, 1) and of beta(1, 5) adds 5/42 alike (reference/allocation.md, 5).
  const std::vector<allot::math::Beta> forward = {{5, 1}, {1, 5}};
  const std::vector<allot::math::Beta> backward = {{1, 5}, {5, 1}};
  const auto with = [](const std::vector<allot::math::Beta>& beliefs) {
    return [&beliefs](std::int64_t item, std::int64_t count) {
      return allot::math::beta_hit(beliefs[static_cast<std::size_t>(item)], static_cast<int>(count));
    };
  };
  // Gains: 5/6, 5/42, … and 1/6, 5/42, …: the third unit is the tie.
  CHECK(counts(*greedy(boxes(2, 0, 9), 3, with(forward))) == Counts{2, 1});
  CHECK(counts(*greedy(boxes(2, 0, 9), 3, with(backward))) == Counts{2, 1});
}

TEST_CASE("equal items are filled from the lowest") {
  const auto same = [](std::int64_t, std::int64_t count) { return 1.0 - 1.0 / static_cast<double>(1 + count); };
  CHECK(counts(*greedy(boxes(3, 0, 5), 4, same)) == Counts{2, 1, 1});
}

TEST_CASE("what adds nothing is not spent, and lows are given first") {
  const auto flat = [](std::int64_t, std::int64_t) { return 2.0; };
  CHECK(counts(*greedy(boxes(2, 1, 5), 9, flat)) == Counts{1, 1});
  const auto zero = [](std::int64_t, std::int64_t) { return 0.0; };
  CHECK(counts(*greedy(boxes(2, 0, 5), 9, zero)) == Counts{0, 0});
  const auto worse = [](std::int64_t, std::int64_t count) { return -static_cast<double>(count); };
  CHECK(counts(*greedy(boxes(2, 2, 5), 9, worse)) == Counts{2, 2});
}

TEST_CASE("lows above the budget have no allotment; none and one item have theirs") {
  const auto one = [](std::int64_t, std::int64_t count) { return static_cast<double>(count); };
  CHECK_FALSE(greedy(boxes(2, 3, 5), 5, one));
  CHECK(greedy({}, 5, one)->empty());
  CHECK(counts(*greedy(boxes(1, 0, 9), 5, one)) == Counts{5});
  CHECK(counts(*greedy(boxes(1, 0, 3), 5, one)) == Counts{3});
  CHECK(counts(*greedy(boxes(2, 0, 3), 0, one)) == Counts{0, 0});
}
