// Distribution functions, by Boost.Math in plain double arithmetic. They call the system's libm, so the last digits may
// differ between machines; on one machine they do not.
//
// Outside of the stated domain the result is NaN.
#pragma once

#include <cstdint>

#include "runtime/math/beta.h"

namespace allot::math {

// P(X <= x) for x in [0, 1], and its inverse for p in [0, 1]. Both parameters above 0.
double beta_cdf(const Beta& belief, double x) noexcept;
double beta_quantile(const Beta& belief, double p) noexcept;

// Of n trials with chance p in [0, 1] each: exactly k hits, at most k hits. 0 below 0 and, for the first, above n.
double binomial_pmf(std::int64_t k, std::int64_t n, double p) noexcept;
double binomial_cdf(std::int64_t k, std::int64_t n, double p) noexcept;

// Degrees of freedom above 0, not necessarily whole; p in (0, 1).
double student_t_cdf(double t, double degrees) noexcept;
double student_t_quantile(double p, double degrees) noexcept;

// Mean 0, variance 1; p in (0, 1).
double normal_cdf(double x) noexcept;
double normal_quantile(double p) noexcept;

}  // namespace allot::math
