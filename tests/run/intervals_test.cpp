#include <catch2/catch.hpp>
#include <vector>

#include "runtime/training/run/intervals.h"

using namespace allot::training;

TEST_CASE("Wilson's interval has its textbook values") {
  // Newcombe (1998), Statistics in Medicine 17:857, table I, method 3: 81 of 263 gives 0.2553 to 0.3662,
  // 0 of 20 gives 0 to 0.1611, 1 of 29 gives 0.0061 to 0.1718.
  const auto many = wilson(81, 263);
  CHECK(many.low == Approx(0.2553).margin(5e-5));
  CHECK(many.high == Approx(0.3662).margin(5e-5));
  const auto none = wilson(0, 20);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(0.1611).margin(5e-5));
  const auto one = wilson(1, 29);
  CHECK(one.low == Approx(0.0061).margin(5e-5));
  CHECK(one.high == Approx(0.1718).margin(5e-5));
  CHECK(wilson(0, 0).low == 0);
  CHECK(wilson(0, 0).high == 1);
}

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
