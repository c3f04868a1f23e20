#include "runtime/math/elementary.h"

#include <sleef.h>

#include <cmath>

namespace allot::math {

double exp(double x) noexcept {
  return Sleef_cinz_expd1_u10purec(x);
}
double exp_minus_one(double x) noexcept {
  return Sleef_cinz_expm1d1_u10purec(x);
}
double log(double x) noexcept {
  return Sleef_cinz_logd1_u10purec(x);
}
double log_one_plus(double x) noexcept {
  return Sleef_cinz_log1pd1_u10purec(x);
}
double log2(double x) noexcept {
  return Sleef_cinz_log2d1_u10purec(x);
}
double log10(double x) noexcept {
  return Sleef_cinz_log10d1_u10purec(x);
}
double pow(double base, double exponent) noexcept {
  return Sleef_cinz_powd1_u10purec(base, exponent);
}
double sin(double x) noexcept {
  return Sleef_cinz_sind1_u10purec(x);
}
double cos(double x) noexcept {
  return Sleef_cinz_cosd1_u10purec(x);
}
double tanh(double x) noexcept {
  return Sleef_cinz_tanhd1_u10purec(x);
}

// IEEE 754 demands the exactly rounded square root, so the machine's own is the same everywhere.
double sqrt(double x) noexcept {
  return std::sqrt(x);
}

double sigmoid(double x) noexcept {
  const double tail = exp(-std::fabs(x));
  return x >= 0 ? 1.0 / (1.0 + tail) : tail / (1.0 + tail);
}

double power(double base, int exponent) noexcept {
  double result = 1.0;
  for (double square = base; exponent > 0; exponent >>= 1, square *= square) {
    if ((exponent & 1) != 0) result *= square;
  }
  return result;
}

}  // namespace allot::math
