// Real and whole group sizes that minimise the variance of a policy gradient (VIP, arXiv:2602.01601).
//
// A prompt with hit rate p adds w · φ(n), w = p (1 − p), for n rollouts. φ is convex from `convex_from` on, so whole
// sizes follow from `Greedy` over −w φ(n).
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace allot::allocation {

enum class Estimator { Rloo, DrGrpo };

// φ(n), without the factor 4 σ²: 1/(n − 1) for RLOO, (n − 1)/n² for Dr. GRPO. n >= 2.
double variance_factor(Estimator estimator, double size) noexcept;
inline int convex_from(Estimator estimator) noexcept { return estimator == Estimator::Rloo ? 2 : 3; }
// 4 σ² p (1 − p) φ(n).
double gradient_variance(Estimator estimator, double p, double size, double sigma2) noexcept;

// Sizes without bounds for RLOO: 1 + (budget − prompts) √wᵢ / Σ √w. Empty where no p lies inside (0, 1).
std::vector<double> rloo_sizes(std::span<const double> p, double budget);

// Sizes within low..high and their price λ, the gain of the next unit, by halving. low >= convex_from, low · prompts <=
// budget; nothing where every size is at its high for less than the budget.
struct Sizes {
  double price = 0;
  std::vector<double> sizes;
};
std::optional<Sizes> real_sizes(Estimator estimator, std::span<const double> p, double budget, double low, double high);

}  // namespace allot::allocation
