// Wald's sequential probability ratio test of a hit rate: H0 says p = p0, H1 says p = p1 (Wald 1945).
#pragma once

#include <cstdint>

namespace allot::math {

// 0 < p0 < p1 < 1; `alpha` bounds the chance of accepting H1 under H0, `beta` that of H0 under H1, both in (0, 1/2).
struct SprtPlan {
  double p0 = 0;
  double p1 = 0;
  double alpha = 0;
  double beta = 0;
};

// Natural logarithms of Wald's bounds, and what one outcome adds to the log-likelihood ratio.
struct SprtConstants {
  double upper = 0;  // ln((1−β)/α): accept H1 at or above
  double lower = 0;  // ln(β/(1−α)): accept H0 at or below
  double hit = 0;    // ln(p1/p0)
  double miss = 0;   // ln((1−p1)/(1−p0))
};
SprtConstants sprt_constants(const SprtPlan& plan) noexcept;

enum class SprtVerdict : std::uint8_t { Continue, AcceptH0, AcceptH1 };
SprtVerdict sprt_verdict(const SprtConstants& constants, double log_ratio) noexcept;

// Approximations that leave the overshoot out: expected rollouts under H0 and H1.
double sprt_size_under_h0(const SprtPlan& plan) noexcept;
double sprt_size_under_h1(const SprtPlan& plan) noexcept;

// The same at any true hit rate p in (0, 1).
struct SprtOperation {
  double h = 0;          // the root h != 0 of E[e^(h z)] = 1; 0 where the drift is 0
  double accept_h0 = 0;  // chance that H0 is accepted
  double size = 0;       // expected rollouts
};
SprtOperation sprt_operation(const SprtPlan& plan, double p) noexcept;

}  // namespace allot::math
