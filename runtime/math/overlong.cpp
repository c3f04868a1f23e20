#include "runtime/math/overlong.h"

#include "runtime/math/round.h"

namespace allot::math {

double overlong_penalty(double length, double limit, double buffer, double factor) noexcept {
  const double excess = length - (limit - buffer);
  return excess <= 0 ? 0.0 : -factor * min(excess / buffer, 1.0);
}

}  // namespace allot::math
