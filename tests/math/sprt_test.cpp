#include "runtime/math/sprt.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace allot::math;

namespace {

constexpr SprtPlan plan{0.5, 0.9, 0.05, 0.1};

}

// allocation.md §6, "Examples".
TEST_CASE("five straight hits accept H1 and two straight misses accept H0") {
  const SprtConstants c = sprt_constants(plan);
  CHECK(sprt_verdict(c, 4 * c.hit) == SprtVerdict::Continue);
  CHECK(sprt_verdict(c, 5 * c.hit) == SprtVerdict::AcceptH1);
  CHECK(sprt_verdict(c, c.miss) == SprtVerdict::Continue);
  CHECK(sprt_verdict(c, 2 * c.miss) == SprtVerdict::AcceptH0);
}

// At p0 and p1 the roots are h = 1 and h = −1, so the general formula must meet the plan's errors and sizes.
TEST_CASE("operation at the two hypotheses meets the declared errors") {
  const SprtOperation at0 = sprt_operation(plan, plan.p0);
  CHECK(at0.h == Approx(1.0).epsilon(1e-9));
  CHECK(at0.accept_h0 == Approx(1 - plan.alpha).epsilon(1e-9));
  CHECK(at0.size == Approx(sprt_size_under_h0(plan)).epsilon(1e-9));
  const SprtOperation at1 = sprt_operation(plan, plan.p1);
  CHECK(at1.h == Approx(-1.0).epsilon(1e-9));
  CHECK(at1.accept_h0 == Approx(plan.beta).epsilon(1e-9));
  CHECK(at1.size == Approx(sprt_size_under_h1(plan)).epsilon(1e-9));
}

TEST_CASE("operation is continuous where the drift vanishes") {
  const SprtConstants c = sprt_constants(plan);
  const double still = -c.miss / (c.hit - c.miss);  // the hit rate without drift
  const SprtOperation at = sprt_operation(plan, still);
  for (const double step : {-1e-5, 1e-5}) {
    const SprtOperation near = sprt_operation(plan, still + step);
    CHECK(near.accept_h0 == Approx(at.accept_h0).epsilon(1e-3));
    CHECK(near.size == Approx(at.size).epsilon(1e-3));
  }
}
