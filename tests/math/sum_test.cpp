#include "runtime/math/sum.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace allot::math;

TEST_CASE("a sum adds from left to right") {
  // In this order 1e16 swallows each 1 (its neighbours are 2 apart); from the right they would count.
  CHECK(sum(std::vector{1e16, 1.0, 1.0}) == 1e16);
  CHECK(sum(std::vector{1.0, 1.0, 1e16}) == 1e16 + 2.0);
  CHECK(sum(std::vector<double>{}) == 0.0);
}

// Public trap: equal rewards that binary cannot hold have a std of 1e-17 elsewhere, and so an advantage.
TEST_CASE("equal values have exactly their value as mean and exactly zero variance") {
  for (const double value : {0.1, 0.7, -0.3, 1e-300, 1.0 / 3.0}) {
    for (int count = 1; count <= 17; ++count) {
      const std::vector<double> values(static_cast<std::size_t>(count), value);
      CAPTURE(value, count);
      CHECK(mean(values) == value);
      CHECK(variance(values, 0) == 0.0);
      CHECK(deviation(values, 1) == 0.0);
    }
  }
}

TEST_CASE("the mean of values near the largest double is finite") {
  const double huge = std::numeric_limits<double>::max();
  CHECK(mean(std::vector{huge, huge, huge}) == huge);
  CHECK(mean(std::vector{huge, huge, -huge, -huge}).value() == Approx(0.0).margin(1e292));
}

// Vector prim-wstd-1 of shaping_vectors.json.
TEST_CASE("the divisor of a variance is the count less ddof") {
  const std::vector<double> values = {1, 2, 4, 8};
  CHECK(*deviation(values, 0) == Approx(2.680951323690902).epsilon(1e-14));
  CHECK(*deviation(values, 1) == Approx(3.095695936834452).epsilon(1e-14));
}

TEST_CASE("one value has variance zero under either divisor and none has no variance") {
  CHECK(variance(std::vector{5.0}, 0) == 0.0);
  CHECK(variance(std::vector{5.0}, 1) == 0.0);
  CHECK_FALSE(variance(std::vector<double>{}, 0).has_value());
  CHECK_FALSE(mean(std::vector<double>{}).has_value());
}
