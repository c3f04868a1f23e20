// What a Beta posterior over a prompt's hit rate says of rollouts that are still to come.
//
// Everything is a product of ratios of rising factorials, (x)ₙ = x (x+1) … (x+n−1), in a fixed order: no gamma
// function, so the same bits everywhere. `a` and `b` must be positive; counts must not be negative.
#pragma once

namespace allot::math {

struct Beta {
  double a = 1;
  double b = 1;
  friend bool operator==(const Beta&, const Beta&) = default;
};

double mean(const Beta& belief) noexcept;
double variance(const Beta& belief) noexcept;
// E[p (1 − p)]: the reward variance of a 0/1 reward to be expected. In (0, 1/4).
double expected_variance(const Beta& belief) noexcept;

// Counts may be fractions (a discounted observation).
Beta observe(const Beta& belief, double hits, double misses) noexcept;
// Forgets: prior + decay · (belief − prior), decay in [0, 1].
Beta decayed(const Beta& belief, const Beta& prior, double decay) noexcept;

// Chance of at least one hit in `count` more rollouts: 1 − (b)ₙ/(a+b)ₙ. 0 for a count of 0.
double beta_hit(const Beta& belief, int count) noexcept;
// What the j-th of them adds, j >= 1: E[p (1−p)^(j−1)]. Its first is the mean.
double beta_hit_marginal(const Beta& belief, int j) noexcept;

// Chance that `count` rollouts all hit or all miss: ((a)ₙ + (b)ₙ)/(a+b)ₙ. 1 for a count below 2.
double beta_flat(const Beta& belief, int count) noexcept;

// Chance that a group of `size` ends with both a hit and a miss, given the hits and misses so far; `belief` is the
// prior before them. 1 once both are present, 0 when the group is full without. (SARA, arXiv:2607.26253.)
double prob_mixed(const Beta& belief, int hits, int misses, int size) noexcept;

}  // namespace allot::math
