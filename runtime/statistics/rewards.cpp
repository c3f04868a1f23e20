#include "runtime/statistics/rewards.h"

#include <algorithm>
#include <cmath>

#include "runtime/math/sum.h"

namespace allot::statistics {

RewardSummary::RewardSummary(Rewards rewards) {
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    if (rewards[i] && std::isfinite(*rewards[i])) {
      values_.push_back(*rewards[i]);
      rollouts_.push_back(static_cast<int>(i));
      continue;
    }
    ++unscored_;
    if (rewards[i]) ++nonfinite_;
  }
}

std::optional<double> RewardSummary::mean() const {
  return math::mean(values_);
}

std::optional<double> RewardSummary::min() const {
  return values_.empty() ? std::nullopt : std::optional(*std::min_element(values_.begin(), values_.end()));
}

std::optional<double> RewardSummary::max() const {
  return values_.empty() ? std::nullopt : std::optional(*std::max_element(values_.begin(), values_.end()));
}

std::optional<double> RewardSummary::sum() const {
  return values_.empty() ? std::nullopt : std::optional(math::sum(values_));
}

std::optional<double> RewardSummary::spread() const {
  return values_.empty() ? std::nullopt : std::optional(*max() - *min());
}

std::optional<double> RewardSummary::variance(int ddof) const {
  return math::variance(values_, ddof);
}

std::optional<double> RewardSummary::deviation(int ddof) const {
  return math::deviation(values_, ddof);
}

bool RewardSummary::flat(double tolerance) const {
  return scored() >= 2 && *spread() <= tolerance;
}

std::optional<double> HitCounts::rate() const {
  const int scored = hits + misses;
  return scored == 0 ? std::nullopt : std::optional(hits / static_cast<double>(scored));
}

HitCounts count_hits(std::span<const std::optional<bool>> outcomes) {
  HitCounts counts;
  for (const std::optional<bool> outcome : outcomes) {
    if (outcome) ++(*outcome ? counts.hits : counts.misses);
  }
  return counts;
}

}  // namespace allot::statistics
