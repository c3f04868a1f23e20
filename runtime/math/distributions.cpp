#include "runtime/math/distributions.h"

// Far out Boost meets NaN on the way and asserts where assertions are on; the result tells it in every build.
#define BOOST_DISABLE_ASSERTS

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <exception>
#include <limits>

namespace allot::math {
namespace {

namespace bm = boost::math;
// No exceptions: what is outside of a domain is told by the result.
using Quiet = bm::policies::policy<
    bm::policies::domain_error<bm::policies::ignore_error>, bm::policies::pole_error<bm::policies::ignore_error>,
    bm::policies::overflow_error<bm::policies::ignore_error>, bm::policies::evaluation_error<bm::policies::ignore_error>,
    bm::policies::promote_double<false>>;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

bool share(double p) noexcept { return p >= 0 && p <= 1; }

// Boost's searches for a root throw all the same where they find none: far out, among numbers that are hardly any.
template <typename Compute>
double quiet(const Compute& compute) noexcept {
  try {
    return compute();
  } catch (const std::exception&) {
    return nothing;
  }
}

bm::binomial_distribution<double, Quiet> binomial(std::int64_t n, double p) { return {static_cast<double>(n), p}; }

}  // namespace

double beta_cdf(const Beta& belief, double x) noexcept {
  if (!share(x)) return nothing;
  return quiet([&] { return bm::cdf(bm::beta_distribution<double, Quiet>(belief.a, belief.b), x); });
}

double beta_quantile(const Beta& belief, double p) noexcept {
  if (!share(p)) return nothing;
  return quiet([&] { return bm::quantile(bm::beta_distribution<double, Quiet>(belief.a, belief.b), p); });
}

double binomial_pmf(std::int64_t k, std::int64_t n, double p) noexcept {
  if (n < 0 || !share(p)) return nothing;
  if (k < 0 || k > n) return 0;
  // Boost divides by p on the way. Where 1 / p is no number, p^2 is 0 and (1 - p)^n is 1.
  if (p > 0 && p < std::numeric_limits<double>::min()) return k == 0 ? 1 : k == 1 ? static_cast<double>(n) * p : 0;
  const double found = quiet([&] { return bm::pdf(binomial(n, p), static_cast<double>(k)); });
  return found > 1 ? 1 : found;  // by rounding
}

double binomial_cdf(std::int64_t k, std::int64_t n, double p) noexcept {
  if (n < 0 || !share(p)) return nothing;
  if (k < 0) return 0;
  if (k >= n) return 1;
  return quiet([&] { return bm::cdf(binomial(n, p), static_cast<double>(k)); });
}

double student_t_cdf(double t, double degrees) noexcept {
  return degrees > 0 ? quiet([&] { return bm::cdf(bm::students_t_distribution<double, Quiet>(degrees), t); }) : nothing;
}

double student_t_quantile(double p, double degrees) noexcept {
  if (!(p > 0 && p < 1) || !(degrees > 0)) return nothing;
  return quiet([&] { return bm::quantile(bm::students_t_distribution<double, Quiet>(degrees), p); });
}

double normal_cdf(double x) noexcept {
  return quiet([&] { return bm::cdf(bm::normal_distribution<double, Quiet>(), x); });
}

double normal_quantile(double p) noexcept {
  return p > 0 && p < 1 ? quiet([&] { return bm::quantile(bm::normal_distribution<double, Quiet>(), p); }) : nothing;
}

}  // namespace allot::math
