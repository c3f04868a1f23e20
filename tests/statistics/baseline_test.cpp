#include "runtime/statistics/baseline.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

TEST_CASE("the mean of the others is the one counted out") {
  Dice dice(9);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> values;
    for (int i = 0, size = 2 + dice.roll(8); i < size; ++i) values.push_back(dice.roll(100) / 16.0);
    const std::vector<double> found = less_mean_of_others(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double others = 0;
      for (std::size_t j = 0; j < values.size(); ++j) others += j == i ? 0 : values[j];
      CHECK(found[i] == Approx(values[i] - others / static_cast<double>(values.size() - 1)).margin(1e-12));
    }
  }
}

// Vector stats.2: three misses and a hit.
TEST_CASE("standardising divides by the deviation plus epsilon") {
  const std::vector<double> values = {0, 0, 0, 1};
  CHECK(standardized(values, 0, 1e-6)[3] == Approx(1.7320468075781148).epsilon(1e-14));
  CHECK(standardized(values, 1, 1e-6)[3] == Approx(1.499997000006).epsilon(1e-12));
  CHECK(centered(values) == std::vector{-0.25, -0.25, -0.25, 0.75});
  CHECK(standardized({}, 0, 1e-6).empty());
}

TEST_CASE("a masked mean leaves out what the mask leaves out, and an empty mask gives zero") {
  const std::vector<double> values = {1, NAN, 3};
  CHECK(masked_mean(values, std::vector{1.0, 0.0, 1.0}, 0.0) == 2.0);
  CHECK(masked_mean(values, std::vector{0.0, 0.0, 0.0}, 0.0) == 0.0);
  CHECK(masked_mean(values, std::vector{0.0, 0.0, 0.0}, 1e-8) == 0.0);
}
