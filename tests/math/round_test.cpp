#include "runtime/math/round.h"

#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <limits>

using namespace allot::math;

TEST_CASE("halves round to the even integer") {
  // By the definition: the even one of the two neighbours.
  CHECK(round_even(0.5) == 0.0);
  CHECK(round_even(1.5) == 2.0);
  CHECK(round_even(2.5) == 2.0);
  CHECK(round_even(-0.5) == 0.0);
  CHECK(round_even(-1.5) == -2.0);
  CHECK(round_even(-2.5) == -2.0);
  CHECK(round_even(2.4999999999999996) == 2.0);
  CHECK(round_even(0.49999999999999994) == 0.0);
  CHECK(round_even(4503599627370497.5) == 4503599627370498.0);
  CHECK(round_even(9007199254740993.0) == 9007199254740992.0);  // the literal itself is not a double
}

TEST_CASE("rounding keeps the sign of zero and does not look at the rounding mode") {
  CHECK(std::signbit(round_even(-0.25)));
  CHECK(std::signbit(round_even(-0.0)));
  CHECK_FALSE(std::signbit(round_even(0.25)));
  std::fesetround(FE_UPWARD);
  const double under_upward = round_even(2.5);
  std::fesetround(FE_TONEAREST);
  CHECK(under_upward == 2.0);
}

TEST_CASE("minimum and maximum order the signed zeros and pass a NaN on from either side") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::signbit(min(0.0, -0.0)));
  CHECK(std::signbit(min(-0.0, 0.0)));
  CHECK_FALSE(std::signbit(max(0.0, -0.0)));
  CHECK_FALSE(std::signbit(max(-0.0, 0.0)));
  CHECK(std::isnan(min(nan, 1.0)));
  CHECK(std::isnan(min(1.0, nan)));
  CHECK(std::isnan(max(nan, 1.0)));
  CHECK(std::isnan(max(1.0, nan)));
  CHECK(min(1.0, 2.0) == 1.0);
  CHECK(max(1.0, 2.0) == 2.0);
}

TEST_CASE("clamping holds a value between its bounds, the upper one winning") {
  CHECK(clamp(5.0, 0.0, 1.0) == 1.0);
  CHECK(clamp(-5.0, 0.0, 1.0) == 0.0);
  CHECK(clamp(0.25, 0.0, 1.0) == 0.25);
  CHECK(clamp(0.5, 3.0, 2.0) == 2.0);
}
