#include "runtime/math/elementary.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace m = allot::math;

namespace {

// Distance in units of the last place from the 64-bit-mantissa value of the C library.
double ulps(double ours, long double exact) {
  const double nearest = static_cast<double>(exact);
  const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
  return static_cast<double>(std::fabs((static_cast<long double>(ours) - exact) / unit));
}

}  // namespace

TEST_CASE("elementary functions stay within their bound of one unit in the last place") {
  double worst = 0;
  for (int i = 1; i < 4000; ++i) {
    const double x = 0.00731 * i;
    worst = std::max({worst, ulps(m::exp(x), std::exp(static_cast<long double>(x))),
                      ulps(m::exp(-x), std::exp(static_cast<long double>(-x))),
                      ulps(m::log(x), std::log(static_cast<long double>(x))),
                      ulps(m::log2(x), std::log2(static_cast<long double>(x))),
                      ulps(m::log10(x), std::log10(static_cast<long double>(x))),
                      ulps(m::tanh(x), std::tanh(static_cast<long double>(x))),
                      ulps(m::log_one_plus(x), std::log1p(static_cast<long double>(x))),
                      ulps(m::exp_minus_one(-x), std::expm1(static_cast<long double>(-x))),
                      ulps(m::pow(x, 1.7), std::pow(static_cast<long double>(x), static_cast<long double>(1.7)))});
  }
  CHECK(worst <= 1.0 + 1e-3);
  CHECK(worst > 0.0);
}

TEST_CASE("values that are exact in mathematics are exact") {
  CHECK(m::exp(0.0) == 1.0);
  CHECK(m::log(1.0) == 0.0);
  CHECK(m::log2(1024.0) == 10.0);
  CHECK(m::log2(0.25) == -2.0);
  CHECK(m::pow(2.0, 10.0) == 1024.0);
  CHECK(m::pow(7.0, 0.0) == 1.0);
  CHECK(m::tanh(0.0) == 0.0);
  CHECK(m::sqrt(2.25) == 1.5);
  CHECK(m::power(2.0, 10) == 1024.0);
  CHECK(m::power(0.0, 0) == 1.0);
  CHECK(m::power(-3.0, 3) == -27.0);
  CHECK(m::sigmoid(0.0) == 0.5);
}

TEST_CASE("outside the domain the answer is the one of IEEE 754") {
  CHECK(std::isnan(m::log(-1.0)));
  CHECK(m::log(0.0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(m::sqrt(-1.0)));
  CHECK(std::isnan(m::pow(-8.0, 1.0 / 3.0)));
  CHECK(m::exp(1000.0) == std::numeric_limits<double>::infinity());
  CHECK(m::sigmoid(-1000.0) == 0.0);
  CHECK(m::sigmoid(1000.0) == 1.0);
}

// Within one unit either neighbour would do; these are the ones that happen to be correctly rounded, and a variant by
// processor or a contraction would move some of them. Origin: the values in 30 digits, rounded to the nearest double.
TEST_CASE("well-known constants come out to the last bit") {
  CHECK(std::bit_cast<std::uint64_t>(m::log(2.0)) == 0x3FE62E42FEFA39EFu);       // ln 2
  CHECK(std::bit_cast<std::uint64_t>(m::log(10.0)) == 0x40026BB1BBB55516u);      // ln 10
  CHECK(std::bit_cast<std::uint64_t>(m::log2(10.0)) == 0x400A934F0979A371u);     // log2 10
  CHECK(std::bit_cast<std::uint64_t>(m::pow(2.0, 0.5)) == 0x3FF6A09E667F3BCDu);  // √2
  CHECK(std::bit_cast<std::uint64_t>(m::sqrt(2.0)) == 0x3FF6A09E667F3BCDu);
}
