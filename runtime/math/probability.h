// Chances over independent rollouts of a known hit rate `p` in [0, 1], and what abandoning early is worth.
#pragma once

namespace allot::math {

// All `size` rollouts hit or all miss: p^n + (1−p)^n. 1 for a size below 2.
double flat_prob(double p, int size) noexcept;
// The complement: the group carries a gradient.
double mixed_prob(double p, int size) noexcept;
// At least one of `count` hits: 1 − (1−p)^n.
double any_prob(double p, int count) noexcept;
// Rollouts until both a hit and a miss have been seen, in expectation: 1/p + 1/(1−p) − 1. Infinite for p of 0 or 1.
double rollouts_to_contrast(double p) noexcept;

// Unbiased chance that at least one of k samples drawn without replacement from n rollouts with c hits is a hit
// (Chen et al. 2021). 0 <= c <= n, 1 <= k <= n.
double pass_at_k(int n, int c, int k) noexcept;

// "Abandon a group of `size` after `probe` equal outcomes", for a population of prompts with the given chances of
// equal outcomes in the first `probe` rollouts and in all of them.
struct Abandonment {
  double abandoned = 0;           // share of groups abandoned
  double rollouts = 0;            // expected rollouts a group
  double saved = 0;               // expected rollouts saved a group
  double wrong = 0;               // share abandoned that would have become mixed
  double mixed_if_abandoned = 0;  // the same among the abandoned; 0 where none is
  double yield = 0;               // mixed groups a rollout under the rule
  double yield_uniform = 0;       // mixed groups a rollout without it
};
Abandonment abandonment(double flat_at_probe, double flat_at_size, int probe, int size) noexcept;

// The single hit rate p in [1/2, 1] at which the share of wrong abandonments A_probe - A_size is largest (1 - p is as
// bad), and that share. 2 <= probe < size.
struct WorstAbandonment {
  double p = 0;
  double wrong = 0;
};
WorstAbandonment worst_abandonment(int probe, int size) noexcept;

}  // namespace allot::math
