#include "runtime/training/batch_advantage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace allot::training {
namespace {

// verl's `whiten` adds this inside the root, and to the number of tokens wherever it divides by it.
constexpr double kWhitenEpsilon = 1e-8;

struct Moments {
  double count = 0;
  double mean = 0;
  double variance = 0;
  double spread = 0;  // max - min
};

// Weighted moments, variance with divisor count - ddof; 0 where that is not positive.
// Both sums are divided by the count plus `epsilon`, the variance then corrected for ddof.
Moments moments(const std::vector<std::pair<double, double>>& value_weight, double ddof, double epsilon = 0) {
  Moments m;
  double sum = 0, low = 0, high = 0, squares = 0;
  bool first = true;
  for (const auto& [value, weight] : value_weight) {
    if (weight <= 0) continue;
    low = first ? value : std::min(low, value);
    high = first ? value : std::max(high, value);
    first = false;
    sum += value * weight;
    m.count += weight;
  }
  if (m.count <= 0) return m;
  m.mean = sum / (m.count + epsilon);
  m.spread = high - low;
  for (const auto& [value, weight] : value_weight) squares += weight * (value - m.mean) * (value - m.mean);
  if (m.count > ddof) m.variance = squares / (m.count + epsilon) * (m.count / (m.count - ddof));
  return m;
}

// (x - mean) / divisor(moments) over the values that count, 0 elsewhere; zeros for a batch without spread.
template <typename Divisor>
Matrix standardise(const Matrix& values, const Matrix& weights, double ddof, double epsilon, Divisor divisor) {
  std::vector<std::pair<double, double>> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values[i].size(); ++j) all.emplace_back(values[i][j], weights[i][j]);
  const Moments m = moments(all, ddof, epsilon);
  Matrix out = values;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values[i].size(); ++j) {
      const bool counts = weights[i][j] > 0 && m.count >= 2 && m.spread > 0;
      out[i][j] = counts ? (values[i][j] - m.mean) / divisor(m) : 0.0;
    }
  return out;
}

Matrix whiten(const Matrix& values, const Matrix& weights) {
  return standardise(values, weights, 1.0, kWhitenEpsilon,
                     [](const Moments& m) { return std::sqrt(m.variance + kWhitenEpsilon); });
}

template <typename F>
GroupValues per_group(Groups groups, F f) {
  GroupValues out;
  for (const auto& group : groups) out.push_back(f(Rewards(group)));
  return out;
}

int count_scored(Rewards rewards) { return static_cast<int>(std::count_if(rewards.begin(), rewards.end(), scored)); }

GroupValues scaled(GroupValues values, double factor) {
  for (auto& group : values)
    for (double& value : group) value *= factor;
  return values;
}

// 1 for the scored rollouts of groups that have at least two of them.
GroupValues usable(Groups groups) {
  return per_group(groups, [](Rewards rewards) {
    const bool enough = count_scored(rewards) >= 2;
    std::vector<double> out;
    for (const Reward& r : rewards) out.push_back(enough && scored(r) ? 1.0 : 0.0);
    return out;
  });
}

GroupValues product(GroupValues a, const GroupValues& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) a[i][j] *= b[i][j];
  return a;
}

GroupValues plain_rewards(Groups groups) {
  return per_group(groups, [](Rewards rewards) {
    std::vector<double> out;
    for (const Reward& r : rewards) out.push_back(scored(r) ? *r : 0.0);
    return out;
  });
}

constexpr std::array<std::pair<Estimator, std::string_view>, 8> kNames = {
    {{Estimator::Grpo, "grpo"},
     {Estimator::DrGrpo, "dr_grpo"},
     {Estimator::Rloo, "rloo"},
     {Estimator::ReinforcePp, "reinforce++"},
     {Estimator::ReinforcePpBaseline, "reinforce++-baseline"},
     {Estimator::Gpg, "gpg"},
     {Estimator::Opo, "opo"},
     {Estimator::BatchStd, "batch_std"}}};

}  // namespace

GroupValues batch_std(Groups groups, int ddof, double eps) {
  std::vector<std::pair<double, double>> all;
  for (const auto& group : groups)
    for (const Reward& r : group)
      if (scored(r)) all.emplace_back(*r, 1.0);
  const double divisor = std::sqrt(moments(all, ddof).variance) + eps;
  return scaled(per_group(groups, dr_grpo), divisor > 0 ? 1.0 / divisor : 0.0);
}

GroupValues rloo_batch_norm(Groups groups, int ddof, double eps) {
  return standardise(per_group(groups, rloo), usable(groups), ddof, 0.0,
                     [eps](const Moments& m) { return std::sqrt(m.variance) + eps; });
}

GroupValues gpg(Groups groups) {
  double batch = 0, live = 0;
  for (const auto& group : groups) {
    const int count = count_scored(group);
    batch += count;
    if (count >= 2 && !flat(group)) live += count;
  }
  return scaled(per_group(groups, dr_grpo), live > 0 ? batch / live : 0.0);
}

GroupValues gpg_verl(Groups groups, double f_norm) {
  double batch = 0, nonzero = 0;
  for (const auto& group : groups)
    for (const Reward& r : group)
      if (scored(r)) {
        batch += 1;
        nonzero += *r != 0 ? 1 : 0;
      }
  return scaled(per_group(groups, dr_grpo), batch / std::max(nonzero, 1.0) / f_norm);
}

TokenAdvantages reinforce_pp(const Matrix& token_rewards, const Matrix& mask, double gamma) {
  TokenAdvantages out{token_rewards, {}};
  for (std::size_t i = 0; i < mask.size(); ++i) {
    double carry = 0;
    for (std::size_t t = mask[i].size(); t-- > 0;) {
      carry = token_rewards[i][t] + gamma * carry;
      out.returns[i][t] = carry;
      carry *= mask[i][t];
    }
  }
  out.advantages = whiten(out.returns, mask);
  return out;
}

GroupValues reinforce_pp_baseline(Groups groups, const GroupValues& lengths) {
  return whiten(per_group(groups, dr_grpo), product(lengths, usable(groups)));
}

Result<Estimator> parse_estimator(std::string_view text) {
  std::string known;
  for (const auto& [estimator, word] : kNames) {
    if (word == text) return estimator;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return Error{"there is no advantage estimator \"" + std::string(text) + "\"", "choose one of " + known};
}

std::string_view name(Estimator estimator) {
  for (const auto& [candidate, word] : kNames)
    if (candidate == estimator) return word;
  return "";
}

GroupValues advantages(const AdvantageOptions& options, Groups groups, const GroupValues& lengths) {
  switch (options.estimator) {
    case Estimator::Grpo:
      return per_group(groups, [&](Rewards r) { return grpo(r, options.ddof, options.eps); });
    case Estimator::DrGrpo: return per_group(groups, dr_grpo);
    case Estimator::Rloo: return per_group(groups, rloo);
    case Estimator::Gpg: return gpg(groups);
    case Estimator::BatchStd: return batch_std(groups, options.ddof, options.eps);
    case Estimator::ReinforcePpBaseline: return reinforce_pp_baseline(groups, lengths);
    case Estimator::ReinforcePp:
      // Undiscounted and paid at the end, every token's return is the reward: weights stand for the tokens.
      return whiten(plain_rewards(groups), product(lengths, usable(groups)));
    case Estimator::Opo: {
      GroupValues out;
      for (std::size_t i = 0; i < groups.size(); ++i) out.push_back(opo(groups[i], lengths[i]));
      return out;
    }
  }
  return {};
}

}  // namespace allot::training
