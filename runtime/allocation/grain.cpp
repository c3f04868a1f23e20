#include "runtime/allocation/grain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/allocation/share.h"
#include "runtime/math/checked.h"
#include "runtime/math/round.h"

namespace allot::allocation {

double grain(double largest) noexcept {
  if (!(largest > 0)) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::max(std::ldexp(1.0, exponent - 40), std::numeric_limits<double>::min());
}

double in_grains(double value, double grain) noexcept {
  return math::round_even(value / grain);
}

std::int64_t least(std::span<const Share> shares, std::int64_t budget) noexcept {
  std::int64_t sum = 0;
  for (const Share& share : shares) {
    const math::CheckedInt next = math::checked_add(sum, share.low);
    if (!next || next.value > budget) return std::numeric_limits<std::int64_t>::max();
    sum = next.value;
  }
  return sum;
}

std::int64_t room(std::span<const Share> shares, std::int64_t bound) noexcept {
  std::int64_t sum = 0;
  for (const Share& share : shares) {
    const math::CheckedInt next = math::checked_add(sum, share.high - share.low);
    if (!next || next.value >= bound) return bound;
    sum = next.value;
  }
  return sum;
}

std::int64_t spent(std::span<const Share> shares) noexcept {
  std::int64_t sum = 0;
  for (const Share& share : shares) sum += share.count;
  return sum;
}

double total(std::span<const Share> shares) noexcept {
  double sum = 0;
  for (const Share& share : shares) sum += share.value;
  return sum;
}

}  // namespace allot::allocation
