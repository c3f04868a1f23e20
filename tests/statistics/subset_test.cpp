#include "runtime/statistics/subset.h"

#include <bit>
#include <catch2/catch.hpp>

#include "runtime/math/sum.h"
#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

namespace {

double variance_of(const std::vector<double>& values, const std::vector<int>& kept) {
  std::vector<double> picked;
  for (const int index : kept) picked.push_back(values[static_cast<std::size_t>(index)]);
  return allot::math::variance(picked, 0).value_or(0.0);
}

// Over every subset.
double largest_variance(const std::vector<double>& values, int count) {
  double best = 0;
  for (unsigned chosen = 0; chosen < (1u << values.size()); ++chosen) {
    if (std::popcount(chosen) != count) continue;
    std::vector<int> kept;
    for (int i = 0; i < static_cast<int>(values.size()); ++i) {
      if ((chosen >> i & 1u) != 0) kept.push_back(i);
    }
    best = std::max(best, variance_of(values, kept));
  }
  return best;
}

}  // namespace

TEST_CASE("the chosen subset has the largest variance of all subsets") {
  Dice dice(4);
  for (int round = 0; round < 150; ++round) {
    std::vector<double> values;
    const int kinds = dice.roll(2) == 0 ? 2 : 10;
    for (int i = 0, size = 1 + dice.roll(9); i < size; ++i) values.push_back(dice.roll(kinds) / 10.0);
    const int count = dice.roll(static_cast<int>(values.size()) + 1);
    const double best = largest_variance(values, count);
    for (const std::vector<int>& kept : {max_variance(values, count), max_variance_descending(values, count)}) {
      CHECK(static_cast<int>(kept.size()) == count);
      CHECK(variance_of(values, kept) == Approx(best).margin(1e-12));
    }
  }
}

// Vectors pods.* of allocation_vectors.json and pods-2 of shaping_vectors.json.
TEST_CASE("ties are decided by rank and not by rounding") {
  CHECK(max_variance(std::vector<double>{0, 1, 0, 0, 0, 0, 1, 0}, 4) == std::vector{1, 5, 6, 7});
  CHECK(max_variance(std::vector<double>{1, 1, 1, 1}, 2) == std::vector{2, 3});
  CHECK(max_variance_descending(std::vector<double>{1, 0, 0, 0, 0, 0, 1, 0}, 4) == std::vector{0, 6, 1, 2});
  // {0, 1, 1} and {0, 0, 1} are a mirrored tie, but computed variances of their multiples may differ in the last bit;
  // the one with fewer low members wins: ranks are 0 2 4 1 3 5.
  for (const double scale : {1.0, 0.1, 0.3, 0.7, 1e-3, 1e9}) {
    CHECK(max_variance(std::vector{0.0, scale, 0.0, scale, 0.0, scale}, 3) == std::vector{0, 3, 5});
  }
}

TEST_CASE("sorting is stable in both directions") {
  const std::vector<double> values = {0.5, 0.9, 0.5, 0.1, 0.9};  // vectors prim-argsort-*
  CHECK(argsort(values, Direction::Descending) == std::vector{1, 4, 0, 2, 3});
  CHECK(argsort(values, Direction::Ascending) == std::vector{3, 0, 2, 1, 4});
  CHECK(top(values, 3) == std::vector{1, 4, 0});
  CHECK(top(values, 99).size() == 5);
  CHECK(top(values, 0).empty());
  CHECK(nearest(values, 0.5, 2) == std::vector{0, 2});
}

TEST_CASE("for rewards of 0 and 1 the split is the one of the general rule") {
  for (int hits = 0; hits <= 6; ++hits) {
    for (int misses = 0; misses <= 6; ++misses) {
      std::vector<double> values(static_cast<std::size_t>(hits), 1.0);
      values.resize(static_cast<std::size_t>(hits + misses), 0.0);
      for (int count = 0; count <= hits + misses; ++count) {
        const int kept = max_variance_hits(hits, misses, count);
        const std::vector<int> general = max_variance(values, count);
        std::vector<double> picked(static_cast<std::size_t>(kept), 1.0);
        picked.resize(static_cast<std::size_t>(count), 0.0);
        CHECK(allot::math::variance(picked, 0).value_or(0.0) == Approx(variance_of(values, general)).margin(1e-12));
      }
    }
  }
}
