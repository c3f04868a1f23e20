// Advantages that look at the whole batch, and the choice of an estimator by name.
#pragma once

#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/training/advantage.h"

namespace allot::training {

using Groups = std::span<const std::vector<Reward>>;
using GroupValues = std::vector<std::vector<double>>;  // shaped like the groups
using Matrix = std::vector<std::vector<double>>;       // [sequence][token]

// Group mean, standard deviation of the whole batch's scored rewards (TRL, scale_rewards = "batch").
GroupValues batch_std(Groups groups, int ddof, double eps);

// `rloo`, then centred and divided by std + eps over the batch's scored rollouts (TRL, normalize_advantages).
GroupValues rloo_batch_norm(Groups groups, int ddof, double eps);

// alpha (r - mean), alpha = scored rollouts / scored rollouts of groups with spread; the formula's intent.
GroupValues gpg(Groups groups);
// The same with alpha as verl counts it, scored rollouts / non-zero rewards, divided by f_norm.
GroupValues gpg_verl(Groups groups, double f_norm);

// Discounted returns R_t = r_t + gamma R_{t+1} over the tokens of each sequence (the carry is reset where the mask is
// 0), then (R - mean) / sqrt(var + 1e-8) over all tokens of the batch. Zeros where there are fewer than two tokens or
// all returns are equal.
struct TokenAdvantages {
  Matrix returns;
  Matrix advantages;
};
TokenAdvantages reinforce_pp(const Matrix& token_rewards, const Matrix& mask, double gamma);

// r - group mean on every token of a rollout, whitened over all tokens: long rollouts weigh more. One value a rollout.
// A flat group's rollouts get the batch's shift, like any other value that equals the mean of its group.
GroupValues reinforce_pp_baseline(Groups groups, const GroupValues& lengths);

enum class Estimator { Grpo, DrGrpo, Rloo, ReinforcePp, ReinforcePpBaseline, Gpg, Opo, BatchStd };

// "grpo", "dr_grpo", "rloo", "reinforce++", "reinforce++-baseline", "gpg", "opo", "batch_std".
Result<Estimator> parse_estimator(std::string_view name);
std::string_view name(Estimator estimator);

struct AdvantageOptions {
  Estimator estimator;
  int ddof;    // 0 or 1; read by grpo and batch_std
  double eps;  // likewise
};

// One advantage a rollout for the groups that are trained on (a dropped group must not be among them). `lengths` are
// trained tokens, shaped like the groups. reinforce++ pays the reward with the last token and does not discount, so
// one value serves all tokens of a rollout. Groups with fewer than two scored rewards and unscored rollouts get 0 and
// take no part; the same holds for flat groups in every estimator but the two that whiten over the batch.
GroupValues advantages(const AdvantageOptions& options, Groups groups, const GroupValues& lengths);

}  // namespace allot::training
