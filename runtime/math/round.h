// Rounding and ordering of reals with one definition for every caller, signed zeros included.
#pragma once

namespace allot::math {

// To the nearest integer, halves to the even one, whatever the processor's rounding mode. Keeps the sign of zero.
double round_even(double x) noexcept;
double floor(double x) noexcept;
double ceil(double x) noexcept;
double abs(double x) noexcept;

// IEEE 754-2019 minimum and maximum: −0 is less than +0, and a NaN on either side gives NaN.
double min(double a, double b) noexcept;
double max(double a, double b) noexcept;

// min(max(x, low), high): where low > high the answer is `high`.
double clamp(double x, double low, double high) noexcept;

}  // namespace allot::math
