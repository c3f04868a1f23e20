#include "runtime/math/sprt.h"

#include "runtime/math/elementary.h"
#include "runtime/math/round.h"

namespace allot::math {
namespace {

double drift(const SprtConstants& c, double p) {
  return p * c.hit + (1.0 - p) * c.miss;
}

double excess_moment(const SprtConstants& c, double p, double h) {
  return p * exp_minus_one(h * c.hit) + (1.0 - p) * exp_minus_one(h * c.miss);
}

// E[e^(hz)] − 1 is convex in h with a root at 0; the other one lies on the side where the drift makes it dip.
double other_root(const SprtConstants& c, double p) {
  const double side = drift(c, p) < 0 ? 1.0 : -1.0;
  double outer = side;
  while (excess_moment(c, p, outer) < 0) outer *= 2.0;
  double inner = outer;
  while (excess_moment(c, p, inner) >= 0) inner *= 0.5;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (inner + outer);
    (excess_moment(c, p, middle) < 0 ? inner : outer) = middle;
  }
  return 0.5 * (inner + outer);
}

}  // namespace

SprtConstants sprt_constants(const SprtPlan& plan) noexcept {
  return {log((1.0 - plan.beta) / plan.alpha), log(plan.beta / (1.0 - plan.alpha)), log(plan.p1 / plan.p0),
          log((1.0 - plan.p1) / (1.0 - plan.p0))};
}

SprtVerdict sprt_verdict(const SprtConstants& constants, double log_ratio) noexcept {
  if (log_ratio >= constants.upper) return SprtVerdict::AcceptH1;
  if (log_ratio <= constants.lower) return SprtVerdict::AcceptH0;
  return SprtVerdict::Continue;
}

double sprt_size_under_h0(const SprtPlan& plan) noexcept {
  const SprtConstants c = sprt_constants(plan);
  return ((1.0 - plan.alpha) * c.lower + plan.alpha * c.upper) / drift(c, plan.p0);
}

double sprt_size_under_h1(const SprtPlan& plan) noexcept {
  const SprtConstants c = sprt_constants(plan);
  return (plan.beta * c.lower + (1.0 - plan.beta) * c.upper) / drift(c, plan.p1);
}

SprtOperation sprt_operation(const SprtPlan& plan, double p) noexcept {
  const SprtConstants c = sprt_constants(plan);
  const double mean = drift(c, p);
  if (abs(mean) < 1e-9) {
    // The limit h → 0 of the formulas below.
    const double second = p * c.hit * c.hit + (1.0 - p) * c.miss * c.miss;
    return {0.0, c.upper / (c.upper - c.lower), -c.upper * c.lower / second};
  }
  const double h = other_root(c, p);
  const double above = exp_minus_one(h * c.upper);
  const double accept = above / (above - exp_minus_one(h * c.lower));
  return {h, accept, (accept * c.lower + (1.0 - accept) * c.upper) / mean};
}

}  // namespace allot::math
