#include "runtime/allocation/variance.h"

#include "runtime/math/elementary.h"
#include "runtime/math/round.h"
#include "runtime/math/sum.h"

namespace allot::allocation {
namespace {

// −φ′(n): what one more rollout is worth, falling in n.
double slope(Estimator estimator, double n) noexcept {
  return estimator == Estimator::Rloo ? 1 / ((n - 1) * (n - 1)) : (n - 2) / (n * n * n);
}

constexpr int halvings = 200;

// The size at which w · slope is the price.
double size_at(Estimator estimator, double weight, double price, double low, double high) noexcept {
  if (!(weight * slope(estimator, low) > price)) return low;
  if (estimator == Estimator::Rloo) return math::clamp(1 + math::sqrt(weight / price), low, high);
  double below = low;
  double above = high;
  if (weight * slope(estimator, above) >= price) return above;
  for (int i = 0; i < halvings; ++i) {
    const double middle = below + (above - below) / 2;
    (weight * slope(estimator, middle) > price ? below : above) = middle;
  }
  return below + (above - below) / 2;
}

std::vector<double> weights(std::span<const double> p) {
  std::vector<double> result;
  for (const double rate : p) result.push_back(rate * (1 - rate));
  return result;
}

}  // namespace

double variance_factor(Estimator estimator, double size) noexcept {
  return estimator == Estimator::Rloo ? 1 / (size - 1) : (size - 1) / (size * size);
}

double gradient_variance(Estimator estimator, double p, double size, double sigma2) noexcept {
  return 4 * sigma2 * p * (1 - p) * variance_factor(estimator, size);
}

std::vector<double> rloo_sizes(std::span<const double> p, double budget) {
  std::vector<double> roots = weights(p);
  for (double& root : roots) root = math::sqrt(root);
  const double sum = math::sum(roots);
  if (!(sum > 0)) return {};
  for (double& root : roots) root = 1 + (budget - static_cast<double>(p.size())) * root / sum;
  return roots;
}

std::optional<Sizes> real_sizes(Estimator estimator, std::span<const double> p, double budget, double low,
                                double high) {
  const std::vector<double> of = weights(p);
  Sizes result;
  result.sizes.resize(p.size());
  const auto spend = [&](double price) {
    for (std::size_t i = 0; i < of.size(); ++i) result.sizes[i] = size_at(estimator, of[i], price, low, high);
    return math::sum(result.sizes);
  };
  double cheap = 0;
  double dear = 1;
  if (spend(0x1p-1000) < budget) return std::nullopt;
  for (int i = 0; i < halvings; ++i) {
    const double middle = cheap + (dear - cheap) / 2;
    (spend(middle) > budget ? cheap : dear) = middle;
  }
  result.price = dear;
  spend(dear);
  return result;
}

}  // namespace allot::allocation
