#include "runtime/math/round.h"

#include <cmath>

namespace allot::math {
namespace {

bool is_even(double whole) {
  return std::fmod(whole, 2.0) == 0.0;
}

}  // namespace

double round_even(double x) noexcept {
  if (!std::isfinite(x)) return x;
  const double below = std::floor(x);
  const double rest = x - below;  // exact: both lie within a factor of two, or |x| < 1
  const bool up = rest > 0.5 || (rest == 0.5 && !is_even(below));
  return std::copysign(up ? below + 1.0 : below, x);
}

double floor(double x) noexcept {
  return std::floor(x);
}
double ceil(double x) noexcept {
  return std::ceil(x);
}
double abs(double x) noexcept {
  return std::fabs(x);
}

double min(double a, double b) noexcept {
  if (a < b) return a;
  if (b < a) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a + b;
}

double max(double a, double b) noexcept {
  if (a > b) return a;
  if (b > a) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a + b;
}

double clamp(double x, double low, double high) noexcept {
  return min(max(x, low), high);
}

}  // namespace allot::math
