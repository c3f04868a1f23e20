#include "runtime/math/probability.h"

#include "runtime/math/elementary.h"

namespace allot::math {

double flat_prob(double p, int size) noexcept {
  return size < 2 ? 1.0 : power(p, size) + power(1.0 - p, size);
}

double mixed_prob(double p, int size) noexcept {
  return 1.0 - flat_prob(p, size);
}

double any_prob(double p, int count) noexcept {
  return 1.0 - power(1.0 - p, count);
}

double rollouts_to_contrast(double p) noexcept {
  return 1.0 / p + 1.0 / (1.0 - p) - 1.0;
}

double pass_at_k(int n, int c, int k) noexcept {
  if (n - c < k) return 1.0;
  // C(n−c, k) / C(n, k) = Π over the last c factors of (1 − k/i): no binomial overflows.
  double none = 1.0;
  for (int i = n - c + 1; i <= n; ++i) none *= 1.0 - static_cast<double>(k) / i;
  return 1.0 - none;
}

Abandonment abandonment(double flat_at_probe, double flat_at_size, int probe, int size) noexcept {
  Abandonment result;
  result.abandoned = flat_at_probe;
  result.rollouts = probe * flat_at_probe + size * (1.0 - flat_at_probe);
  result.saved = (size - probe) * flat_at_probe;
  result.wrong = flat_at_probe - flat_at_size;
  result.mixed_if_abandoned = flat_at_probe > 0 ? 1.0 - flat_at_size / flat_at_probe : 0.0;
  result.yield = (1.0 - flat_at_probe) / result.rollouts;
  result.yield_uniform = (1.0 - flat_at_size) / size;
  return result;
}

}  // namespace allot::math
