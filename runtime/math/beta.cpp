#include "runtime/math/beta.h"

#include <algorithm>

namespace allot::math {
namespace {

// (x)ₙ / (y)ₙ as a product of n ratios: no factor overflows for any n.
double rising_ratio(double x, double y, int n) {
  double product = 1.0;
  for (int j = 0; j < n; ++j) product *= (x + j) / (y + j);
  return product;
}

}  // namespace

double mean(const Beta& belief) noexcept {
  return 0.5 * belief.a / (0.5 * belief.a + 0.5 * belief.b);  // a + b may be beyond the largest number
}

double variance(const Beta& belief) noexcept {
  const double total = belief.a + belief.b;
  return belief.a * belief.b / (total * total * (total + 1.0));
}

double expected_variance(const Beta& belief) noexcept {
  const double total = belief.a + belief.b;
  return belief.a * belief.b / (total * (total + 1.0));
}

Beta observe(const Beta& belief, double hits, double misses) noexcept {
  return {belief.a + hits, belief.b + misses};
}

Beta decayed(const Beta& belief, const Beta& prior, double decay) noexcept {
  return {prior.a + decay * (belief.a - prior.a), prior.b + decay * (belief.b - prior.b)};
}

double beta_hit(const Beta& belief, int count) noexcept {
  return 1.0 - rising_ratio(belief.b, belief.a + belief.b, count);
}

double beta_hit_marginal(const Beta& belief, int j) noexcept {
  return mean(belief) * rising_ratio(belief.b, belief.a + belief.b + 1.0, j - 1);
}

double beta_flat(const Beta& belief, int count) noexcept {
  if (count < 2) return 1.0;
  const double total = belief.a + belief.b;
  return rising_ratio(belief.a, total, count) + rising_ratio(belief.b, total, count);
}

double prob_mixed(const Beta& belief, int hits, int misses, int size) noexcept {
  if (hits > 0 && misses > 0) return 1.0;
  if (hits == 0 && misses == 0) return 1.0 - beta_flat(belief, size);
  const int outstanding = std::max(0, size - hits - misses);
  const double total = belief.a + belief.b + hits + misses;
  const double repeat = hits > 0 ? belief.a + hits : belief.b + misses;
  return 1.0 - rising_ratio(repeat, total, outstanding);
}

}  // namespace allot::math
