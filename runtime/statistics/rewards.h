// Statistics of the rewards of a group: one value a rollout (never one a turn), some of them missing.
//
// A missing reward and a non-finite one are unscored: in no mean and no count of hits, and never 0.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace allot::statistics {

using Rewards = std::span<const std::optional<double>>;

class RewardSummary {
 public:
  explicit RewardSummary(Rewards rewards);

  int scored() const { return static_cast<int>(values_.size()); }
  int unscored() const { return unscored_; }  // non-finite ones included
  int nonfinite() const { return nonfinite_; }
  // The scored rewards, in the order of the rollouts, and whose they are.
  std::span<const double> values() const { return values_; }
  std::span<const int> rollouts() const { return rollouts_; }

  // Undefined where nothing is scored.
  std::optional<double> mean() const;
  std::optional<double> min() const;
  std::optional<double> max() const;
  std::optional<double> sum() const;
  std::optional<double> spread() const;  // max − min
  // Divisor scored − ddof, ddof 0 or 1. One scored reward has variance 0 under either.
  std::optional<double> variance(int ddof) const;
  std::optional<double> deviation(int ddof) const;

  // At least two are scored and they differ by no more than `tolerance` >= 0.
  bool flat(double tolerance) const;

 private:
  std::vector<double> values_;
  std::vector<int> rollouts_;
  int unscored_ = 0;
  int nonfinite_ = 0;
};

// Whether each scored rollout met the hit condition; none where it is unscored.
struct HitCounts {
  int hits = 0;
  int misses = 0;
  std::optional<double> rate() const;  // hits / scored; undefined where nothing is scored
};
HitCounts count_hits(std::span<const std::optional<bool>> outcomes);

}  // namespace allot::statistics
