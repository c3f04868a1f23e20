#include "runtime/math/information.h"

#include <limits>

#include "runtime/math/elementary.h"
#include "runtime/math/round.h"
#include "runtime/math/sum.h"

namespace allot::math {
namespace {

double surprise(double p) noexcept { return p > 0 ? -p * log(p) : 0; }

double divergence(double p, double q) noexcept {
  if (p == 0) return 0;
  return q == 0 ? std::numeric_limits<double>::infinity() : p * log(p / q);
}

}  // namespace

std::optional<double> weights_entropy(std::span<const double> weights) noexcept {
  const double total = sum(weights);
  double entropy = 0;
  for (const double weight : weights) {
    if (weight < 0) return std::nullopt;
    if (total > 0) entropy += surprise(weight / total);
  }
  return total > 0 ? std::optional(entropy) : std::nullopt;
}

double bernoulli_entropy(double p) noexcept { return surprise(p) + surprise(1 - p); }

double bernoulli_kl(double p, double q) noexcept { return max(0, divergence(p, q) + divergence(1 - p, 1 - q)); }

std::optional<double> log_sum_exp(std::span<const double> values) noexcept {
  if (values.empty()) return std::nullopt;
  double most = values.front();
  for (const double value : values) most = max(most, value);
  double total = 0;
  for (const double value : values) total += exp(value - most);
  return most + log(total);
}

// S(2m) = S(m) (1 + r^m), S(m + 1) = 1 + r S(m): from the highest binary digit of n down.
double geometric_sum(double r, std::int64_t n) noexcept {
  double total = 0;
  double power = 1;
  for (int bit = 62; bit >= 0; --bit) {
    total *= 1 + power;
    power *= power;
    if ((n >> bit & 1) == 0) continue;
    total = 1 + r * total;
    power *= r;
  }
  return total;
}

}  // namespace allot::math
