// Entropies in nats, and sums of exponentials and of powers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace allot::math {

// −Σ p ln p of the weights divided by their sum; weights of 0 add nothing. Undefined where one is negative, or none is
// above 0. In 0..ln n.
std::optional<double> weights_entropy(std::span<const double> weights) noexcept;

// −p ln p − (1 − p) ln(1 − p) for p in [0, 1]; 0 at both ends.
double bernoulli_entropy(double p) noexcept;

// p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)) for p and q in [0, 1]; 0 or more, infinite where q excludes what p allows.
double bernoulli_kl(double p, double q) noexcept;

// ln Σ e^v, without overflow; undefined of none.
std::optional<double> log_sum_exp(std::span<const double> values) noexcept;

// Σ r^k for k from 0 to n − 1; n >= 0. By halves: no cancellation where r is near 1.
double geometric_sum(double r, std::int64_t n) noexcept;

}  // namespace allot::math
