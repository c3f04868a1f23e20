// How large reals can become: what is bounded needs no test that it is finite.
#pragma once

#include <limits>

namespace allot::compiler::native {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double safe_real = 1e300;   // below it no rounding of a bound hides an overflow
inline constexpr double slack = 1.000001;    // of bounds, which are rounded themselves

}  // namespace allot::compiler::native
