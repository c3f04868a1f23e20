// Integer arithmetic that says so when the result does not exist. The one definition for evaluator, constant folder and
// machine code: 64-bit two's complement, division truncates toward zero, the remainder takes the sign of the dividend.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace allot::math {

enum class IntFault : std::uint8_t { None, Overflow, DivisionByZero };

// A value, or the reason why there is none (then `value` is 0).
struct CheckedInt {
  std::int64_t value = 0;
  IntFault fault = IntFault::None;
  constexpr explicit operator bool() const noexcept { return fault == IntFault::None; }
  friend constexpr bool operator==(const CheckedInt&, const CheckedInt&) = default;
};

inline constexpr std::int64_t int_min = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t int_max = std::numeric_limits<std::int64_t>::max();
inline constexpr CheckedInt int_overflow{0, IntFault::Overflow};
inline constexpr CheckedInt int_division_by_zero{0, IntFault::DivisionByZero};

constexpr CheckedInt checked_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? int_overflow : CheckedInt{result};
}

constexpr CheckedInt checked_sub(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? int_overflow : CheckedInt{result};
}

constexpr CheckedInt checked_mul(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? int_overflow : CheckedInt{result};
}

constexpr CheckedInt checked_neg(std::int64_t a) noexcept {
  return checked_sub(0, a);
}

constexpr CheckedInt checked_abs(std::int64_t a) noexcept {
  return a < 0 ? checked_neg(a) : CheckedInt{a};
}

constexpr CheckedInt checked_div(std::int64_t a, std::int64_t b) noexcept {
  if (b == 0) return int_division_by_zero;
  if (b == -1) return checked_neg(a);  // the machine's division traps on the smallest integer
  return CheckedInt{a / b};
}

constexpr CheckedInt checked_mod(std::int64_t a, std::int64_t b) noexcept {
  if (b == 0) return int_division_by_zero;
  if (b == -1) return CheckedInt{0};  // the remainder exists even where the quotient does not
  return CheckedInt{a % b};
}

// The integer that `x` is, after rounding by the caller. NaN, infinities and values outside the range overflow.
inline CheckedInt checked_int(double x) noexcept {
  constexpr double limit = 9223372036854775808.0;  // 2^63; int_max itself is not a double
  if (!(x >= -limit && x < limit)) return int_overflow;
  return CheckedInt{static_cast<std::int64_t>(std::trunc(x))};
}

}  // namespace allot::math
