// Distribution functions at points whose values follow by hand or stand in tables of the distribution.
#include <catch2/catch.hpp>

#include <cmath>

#include "runtime/math/distributions.h"

using namespace allot::math;

// Beta(1, 1) is uniform; Beta(2, 1) has x² below x; Beta(2, 2) has 3x² − 2x³.
TEST_CASE("beta distribution") {
  CHECK(beta_cdf({1, 1}, 0.3) == Approx(0.3).margin(1e-15));
  CHECK(beta_cdf({2, 1}, 0.3) == Approx(0.09).margin(1e-15));
  CHECK(beta_cdf({2, 2}, 0.25) == Approx(3 * 0.0625 - 2 * 0.015625).margin(1e-15));
  CHECK(beta_cdf({2, 5}, 0) == 0);
  CHECK(beta_cdf({2, 5}, 1) == 1);
  CHECK(beta_quantile({2, 1}, 0.09) == Approx(0.3).margin(1e-12));
  CHECK(std::isnan(beta_cdf({1, 1}, 1.5)));
  for (const double p : {0.01, 0.3, 0.9}) CHECK(beta_cdf({0.7, 3}, beta_quantile({0.7, 3}, p)) == Approx(p).margin(1e-12));
}

// C(4, 2) / 2⁴ = 6/16, and 1 + 4 + 6 of 16 at most two.
TEST_CASE("binomial distribution") {
  CHECK(binomial_pmf(2, 4, 0.5) == Approx(0.375).margin(1e-14));
  CHECK(binomial_cdf(2, 4, 0.5) == Approx(11.0 / 16).margin(1e-14));
  CHECK(binomial_pmf(-1, 4, 0.5) == 0);
  CHECK(binomial_pmf(5, 4, 0.5) == 0);
  CHECK(binomial_cdf(-1, 4, 0.5) == 0);
  CHECK(binomial_cdf(4, 4, 0.5) == 1);
  CHECK(binomial_pmf(0, 4, 0) == 1);
  CHECK(binomial_pmf(4, 4, 1) == 1);
  CHECK(binomial_pmf(0, 0, 0.5) == 1);
}

// One degree of freedom is Cauchy: 1/2 + arctan(t)/π; two: 1/2 + t / (2 √(2 + t²)). 2.228 stands in every table of t.
TEST_CASE("Student's t") {
  CHECK(student_t_cdf(1, 1) == Approx(0.75).margin(1e-14));
  CHECK(student_t_cdf(2, 2) == Approx(0.5 + 2 / (2 * std::sqrt(6.0))).margin(1e-14));
  CHECK(student_t_quantile(0.975, 10) == Approx(2.228138852).margin(1e-8));
  CHECK(student_t_quantile(0.5, 7) == Approx(0).margin(1e-15));
}

// Φ(1) and the 97.5 % point, from tables of the normal distribution.
TEST_CASE("normal distribution") {
  CHECK(normal_cdf(0) == 0.5);
  CHECK(normal_cdf(1) == Approx(0.8413447460685429).margin(1e-15));
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).margin(1e-12));
}

// Far out nothing is promised but that an answer comes, and is a chance where it is one at all.
TEST_CASE("no number ends the process") {
  const double far[] = {5e-324, 3e-309, 1e-300, 1e-12, 0.5, 1, 1e6, 1e15, 1e300};
  const double chances[] = {0, 5e-324, 1e-300, 1e-16, 0.5, 1 - 1e-16, 1};
  const auto chance = [](double x) { return std::isnan(x) || (x >= 0 && x <= 1); };
  for (const double a : far) {
    for (const double p : chances) {
      for (const double b : far) {
        INFO(a << " " << b << " " << p);
        CHECK(chance(beta_cdf({a, b}, p)));
        CHECK(chance(beta_quantile({a, b}, p)));
      }
      CHECK_NOTHROW(student_t_quantile(p, a));
      CHECK(chance(student_t_cdf(a - 1e5, a)));
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1'000'000}}) {
        CHECK(chance(binomial_pmf(n / 2, n, p)));
        CHECK(chance(binomial_cdf(n / 2, n, p)));
      }
      CHECK_NOTHROW(normal_quantile(p));
    }
    CHECK(chance(normal_cdf(-a)));
  }
}

// C(4, k) p^k (1 - p)^(4-k) with p the least number above 0, whose square is 0.
TEST_CASE("hardly any chance of a hit") {
  CHECK(binomial_pmf(0, 4, 5e-324) == 1);
  CHECK(binomial_pmf(1, 4, 5e-324) == 2e-323);
  CHECK(binomial_pmf(2, 4, 5e-324) == 0);
}
