#include "runtime/allocation/variance.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace allot::allocation;

TEST_CASE("factors of the variance, by their formulas") {
  CHECK(variance_factor(Estimator::Rloo, 5) == 0.25);
  CHECK(variance_factor(Estimator::DrGrpo, 4) == 3.0 / 16);
  CHECK(gradient_variance(Estimator::Rloo, 0.5, 9, 2) == Approx(0.25));  // 4 · 2 · 1/4 · 1/8
}

TEST_CASE("real sizes spend the budget at one price") {
  // Equal prompts share equally; halving the root of the weight halves what lies above 1.
  const auto equal = real_sizes(Estimator::Rloo, std::vector{0.3, 0.3, 0.7}, 30, 2, 30);
  for (const double size : equal->sizes) CHECK(size == Approx(10));
  const std::vector<double> p = {0.05, 0.3, 0.5, 0.9};
  const auto bounded = real_sizes(Estimator::Rloo, p, 32, 2, 32);
  const auto closed = rloo_sizes(p, 32);
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(bounded->sizes[i] == Approx(closed[i]).epsilon(1e-9));
  const auto other = real_sizes(Estimator::DrGrpo, p, 32, 3, 32);
  CHECK(std::accumulate(other->sizes.begin(), other->sizes.end(), 0.0) == Approx(32));
}

TEST_CASE("certain prompts keep their low, and a budget above every high has no price") {
  const auto sizes = real_sizes(Estimator::Rloo, std::vector{0.0, 0.5}, 12, 2, 32);
  CHECK(sizes->sizes[0] == 2);
  CHECK(sizes->sizes[1] == Approx(10));
  CHECK_FALSE(real_sizes(Estimator::Rloo, std::vector{0.5, 0.5}, 100, 2, 8));
  CHECK(rloo_sizes(std::vector{0.0, 1.0}, 8).empty());
}
