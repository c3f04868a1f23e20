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

WorstAbandonment worst_abandonment(int probe, int size) noexcept {
  const auto wrong = [&](double p) { return flat_prob(p, probe) - flat_prob(p, size); };
  // d/dp of p^n + (1 - p)^n, over n.
  const auto slope = [](double p, int n) { return n * (power(p, n - 1) - power(1.0 - p, n - 1)); };
  // The share rises from p = 1/2 to its one peak and falls to 0 at p = 1; a grid finds the side, halving the place.
  constexpr int grid = 1000;
  int best = 0;
  for (int i = 1; i < grid; ++i) {
    if (wrong(0.5 + 0.5 * i / grid) > wrong(0.5 + 0.5 * best / grid)) best = i;
  }
  double low = 0.5 + 0.5 * (best > 0 ? best - 1 : 0) / grid;
  double high = 0.5 + 0.5 * (best + 1) / grid;
  for (int i = 0; i < 60; ++i) {
    const double middle = low + (high - low) / 2;
    (slope(middle, probe) > slope(middle, size) ? low : high) = middle;
  }
  return {low, wrong(low)};
}

}  // namespace allot::math
