#include "runtime/math/beta.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace allot::math;

namespace {

// E[f(p)] under an integer Beta by the midpoint rule: another way to every formula here.
template <typename F>
double expectation(const Beta& belief, F f) {
  double weight = 0;
  double total = 0;
  constexpr int cells = 20000;
  for (int i = 0; i < cells; ++i) {
    const double p = (i + 0.5) / cells;
    double density = 1;
    for (int k = 1; k < static_cast<int>(belief.a); ++k) density *= p;
    for (int k = 1; k < static_cast<int>(belief.b); ++k) density *= 1 - p;
    weight += density;
    total += density * f(p);
  }
  return total / weight;
}

double raise(double x, int n) {
  double product = 1;
  for (int i = 0; i < n; ++i) product *= x;
  return product;
}

const std::vector<Beta> beliefs = {{1, 1}, {2, 1}, {1, 5}, {4, 3}, {9, 2}};

}  // namespace

TEST_CASE("posterior products agree with integration over the hit rate") {
  for (const Beta& belief : beliefs) {
    CAPTURE(belief.a, belief.b);
    CHECK(mean(belief) == Approx(expectation(belief, [](double p) { return p; })).epsilon(1e-6));
    CHECK(expected_variance(belief) == Approx(expectation(belief, [](double p) { return p * (1 - p); })).epsilon(1e-6));
    for (const int n : {1, 2, 5, 12}) {
      const auto hit = [n](double p) { return 1 - raise(1 - p, n); };
      const auto flat = [n](double p) { return raise(p, n) + raise(1 - p, n); };
      CHECK(beta_hit(belief, n) == Approx(expectation(belief, hit)).epsilon(1e-6));
      CHECK(beta_flat(belief, n) == Approx(n == 1 ? 1.0 : expectation(belief, flat)).epsilon(1e-6));
    }
  }
}

TEST_CASE("the gains of single rollouts add up to the chance of a hit and shrink") {
  for (const Beta& belief : beliefs) {
    double total = 0;
    for (int j = 1; j <= 40; ++j) {
      total += beta_hit_marginal(belief, j);
      CHECK(total == Approx(beta_hit(belief, j)).epsilon(1e-12));
      CHECK(beta_hit_marginal(belief, j + 1) < beta_hit_marginal(belief, j));
    }
  }
}

TEST_CASE("a group that holds a hit and a miss is mixed, a full one without is not") {
  CHECK(prob_mixed({1, 1}, 1, 1, 8) == 1.0);
  CHECK(prob_mixed({1, 1}, 8, 0, 8) == 0.0);
  CHECK(prob_mixed({1, 1}, 0, 9, 8) == 0.0);
  CHECK(prob_mixed({1, 1}, 0, 0, 1) == 0.0);
}

// allocation.md §6: under the uniform prior, all equal so far, the chance is (G − m)/(G + 1).
TEST_CASE("under the uniform prior the chance of a mixed group falls in steps of one over G plus one") {
  for (const int size : {2, 8, 16}) {
    CHECK(prob_mixed({1, 1}, 0, 0, size) == Approx(double(size - 1) / (size + 1)).epsilon(1e-13));
    for (int m = 1; m <= size; ++m) {
      const double expected = static_cast<double>(size - m) / (size + 1);
      CHECK(prob_mixed({1, 1}, m, 0, size) == Approx(expected).epsilon(1e-13).margin(1e-15));
      CHECK(prob_mixed({1, 1}, 0, m, size) == Approx(expected).epsilon(1e-13).margin(1e-15));
    }
  }
}

TEST_CASE("observing adds counts and decay pulls towards the prior") {
  CHECK(observe({1, 1}, 3, 5) == Beta{4, 6});
  CHECK(decayed({5, 9}, {1, 1}, 0.5) == Beta{3, 5});
  CHECK(decayed({5, 9}, {1, 1}, 0.0) == Beta{1, 1});
  CHECK(decayed({5, 9}, {1, 1}, 1.0) == Beta{5, 9});
}
