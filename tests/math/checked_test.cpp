#include "runtime/math/checked.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

using namespace allot::math;

namespace {

__extension__ using Wide = __int128;

// The same in 128 bits, where nothing here can overflow.
CheckedInt narrow(Wide exact) {
  return exact < int_min || exact > int_max ? int_overflow : CheckedInt{static_cast<std::int64_t>(exact)};
}

const std::vector<std::int64_t> edges = {int_min, int_min + 1, -4294967296, -3, -2,         -1,          0,
                                         1,       2,           3,           7,  3037000500, int_max - 1, int_max};

}  // namespace

TEST_CASE("checked arithmetic agrees with 128-bit arithmetic at every pair of edges") {
  for (const std::int64_t a : edges) {
    for (const std::int64_t b : edges) {
      CAPTURE(a, b);
      CHECK(checked_add(a, b) == narrow(Wide{a} + b));
      CHECK(checked_sub(a, b) == narrow(Wide{a} - b));
      CHECK(checked_mul(a, b) == narrow(Wide{a} * b));
      CHECK(checked_div(a, b) == (b == 0 ? int_division_by_zero : narrow(Wide{a} / b)));
      CHECK(checked_mod(a, b) == (b == 0 ? int_division_by_zero : narrow(Wide{a} % b)));
    }
    CHECK(checked_neg(a) == narrow(-Wide{a}));
    CHECK(checked_abs(a) == narrow(a < 0 ? -Wide{a} : Wide{a}));
  }
}

// Public fault "integer edges": the smallest integer divided by −1 traps on x86, its remainder is 0.
TEST_CASE("the smallest integer divided by minus one overflows and its remainder is zero") {
  CHECK(checked_div(int_min, -1).fault == IntFault::Overflow);
  CHECK(checked_mod(int_min, -1) == CheckedInt{0});
  CHECK(checked_div(1, 0).fault == IntFault::DivisionByZero);
  CHECK(checked_mod(1, 0).fault == IntFault::DivisionByZero);
}

TEST_CASE("a real becomes an integer only inside the range of integers") {
  CHECK(checked_int(-9223372036854775808.0) == CheckedInt{int_min});
  CHECK(checked_int(9223372036854775808.0).fault == IntFault::Overflow);
  CHECK(checked_int(9223372036854774784.0) == CheckedInt{9223372036854774784});
  CHECK(checked_int(std::numeric_limits<double>::quiet_NaN()).fault == IntFault::Overflow);
  CHECK(checked_int(std::numeric_limits<double>::infinity()).fault == IntFault::Overflow);
  CHECK(checked_int(-2.9) == CheckedInt{-2});
}
