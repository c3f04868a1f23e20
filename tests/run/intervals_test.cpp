#include <catch2/catch.hpp>
#include <vector>

#include "runtime/training/run/intervals.h"

using namespace allot::training;

TEST_CASE("a bootstrap of equal values is a point, of one value too") {
  const std::vector<double> equal(8, 0.25);
  CHECK(bootstrap_mean(equal).low == 0.25);
  CHECK(bootstrap_mean(equal).high == 0.25);
  CHECK(bootstrap_mean(std::vector<double>{3}).low == 3);
  CHECK(bootstrap_mean({}).mean == 0);
}

TEST_CASE("the bootstrap interval of a mean is about 1.96 standard errors wide on each side") {
  // 400 values, half 0 and half 1: standard error 0.5 / sqrt(400) = 0.025.
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i % 2);
  const auto interval = bootstrap_mean(values);
  CHECK(interval.mean == 0.5);
  CHECK(interval.low == Approx(0.5 - 1.96 * 0.025).margin(0.008));
  CHECK(interval.high == Approx(0.5 + 1.96 * 0.025).margin(0.008));
}

TEST_CASE("rows that differ widen the interval although each row is sure of itself") {
  const std::vector<std::vector<double>> alike(4, std::vector<double>(50, 0.1));
  const std::vector<std::vector<double>> apart = {std::vector<double>(50, -0.3), std::vector<double>(50, 0.5),
                                                  std::vector<double>(50, -0.3), std::vector<double>(50, 0.5)};
  CHECK(bootstrap_rows(alike).high - bootstrap_rows(alike).low < 1e-12);
  const auto wide = bootstrap_rows(apart);
  CHECK(wide.mean == Approx(0.1));
  CHECK(wide.low <= -0.1);
  CHECK(wide.high >= 0.3);
}
