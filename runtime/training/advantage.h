// Advantages of one group: what makes a rollout better than its siblings. Plain double arithmetic, sums in order.
//
// Everywhere: an unscored reward (none, or not finite) takes no part in any figure of its group and gets advantage 0;
// a flat group (max - min <= 0 over the scored; never "std == 0", which rounding can miss) gets zeros, and so does a
// group with fewer than two scored rewards. No result is ever NaN or infinite.
// Definitions: shaping.md 2.1 and 2.2, as the frameworks verl and TRL compute them.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace allot::training {

using Reward = std::optional<double>;
using Rewards = std::span<const Reward>;

// The reward where it is scored and finite.
bool scored(const Reward& reward);

// At least two scored, and max - min <= tolerance.
bool flat(Rewards rewards, double tolerance = 0);

// What a group with a single scored rollout gets from `grpo`. verl lets the raw reward through, r / (1 + eps).
enum class Singleton { Zero, RawReward };

// (r - mean) / (std + eps), std with divisor n - ddof. ddof and eps have no defaults: frameworks differ in both.
std::vector<double> grpo(Rewards rewards, int ddof, double eps, Singleton singleton = Singleton::Zero);

// The variant of verl's vectorised estimator: the variance (ddof 1) is at least eps before the root is taken.
std::vector<double> grpo_variance_floor(Rewards rewards, double eps);

// r - mean.
std::vector<double> dr_grpo(Rewards rewards);

// r - mean of the others.
std::vector<double> rloo(Rewards rewards);

// r - mean weighted by length. `lengths` in tokens, one a rollout, >= 0.
std::vector<double> opo(Rewards rewards, std::span<const double> lengths);

// (best - second) / (std + eps) for the best rollout (the lower index among equals), 0 for the others.
std::vector<double> grpo_passk(Rewards rewards, int ddof, double eps);

}  // namespace allot::training
