#include "runtime/allocation/hits.h"

#include <catch2/catch.hpp>
#include <random>

#include "runtime/allocation/solve.h"
#include "tests/allocation/problems.h"

using namespace allot::allocation;
using namespace allot::allocation::test;

TEST_CASE("very many at once: the counts of greed, one by one") {
  std::mt19937 random(9);
  for (int round = 0; round < 60; ++round) {
    const std::size_t prompts = 1 + random() % 60;
    const std::int32_t seen = 1 + static_cast<std::int32_t>(random() % 5);
    std::vector<std::int32_t> hits, misses;
    for (std::size_t i = 0; i < prompts; ++i) {
      hits.push_back(static_cast<std::int32_t>(random()) & seen);
      misses.push_back(seen - hits.back());
      if (round % 20 == 0) misses.back() += 100'000;  // too far apart for the square
    }
    const allot::math::Beta prior{1 + 0.5 * (round % 3), 1};
    const auto budget = static_cast<std::int64_t>(random() % (8 * prompts));
    const auto most = static_cast<std::int32_t>(random() % 20);
    const auto one_by_one = greedy(boxes(prompts, 0, most), budget, [&](std::int64_t item, std::int64_t count) {
      const auto i = static_cast<std::size_t>(item);
      return allot::math::beta_hit(allot::math::observe(prior, hits[i], misses[i]), static_cast<int>(count));
    });
    const auto at_once = allot_hits(prior, hits, misses, budget, most);
    REQUIRE(std::vector<std::int64_t>(at_once.counts.begin(), at_once.counts.end()) == counts(*one_by_one));
    REQUIRE(at_once.utility == Approx(total(*one_by_one)).margin(1e-12));
  }
}

TEST_CASE("nobody, nothing to give, and no room") {
  CHECK(allot_hits({1, 1}, {}, {}, 5, 5).counts.empty());
  const std::vector<std::int32_t> one = {1}, two = {2};
  CHECK(allot_hits({1, 1}, one, two, 0, 5).counts == std::vector<std::int32_t>{0});
  CHECK(allot_hits({1, 1}, one, two, 5, 0).counts == std::vector<std::int32_t>{0});
  CHECK(allot_hits({1, 1}, one, two, 50, 3).counts == std::vector<std::int32_t>{3});
}
