// How far the policy's stops are trusted: a share of stopped groups runs to the end all the same, which shows how often
// a stop was right, and the policy falls back to shadow where that is too seldom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allot::engine {

struct Interval {
  double low = 0;
  double high = 1;
};
// Wilson's score interval for a share, 95 % (Wilson 1927). 0..1 without a trial.
Interval wilson(std::int64_t successes, std::int64_t trials);

class Trust {
 public:
  Trust() = default;
  Trust(double holdout, std::optional<double> pause_below, std::uint64_t seed)
      : holdout_(holdout), pause_below_(pause_below), seed_(seed) {}

  // A function of what the group is, not of when it was opened.
  bool in_holdout(std::string_view prompt, int iteration, int slot, int round) const;
  // A held-out group that would have been stopped has run to the end with at least two scored rewards.
  void observe(bool flat);

  // At the barrier: the message if this is the moment in which the policy is paused.
  std::optional<std::string> review();

  // Another policy decides from here on: what was observed says nothing of it. Until renew(), at the barrier, the groups of
  // the one before run on, so it stays paused.
  void policy_changed() { outdated_ = true; }
  void renew();

  bool paused() const { return paused_; }
  std::int64_t observed() const { return observed_; }
  std::int64_t flat() const { return flat_; }
  std::optional<double> precision() const;
  void restore(std::int64_t observed, std::int64_t flat, bool paused);

 private:
  double holdout_ = 0;
  std::optional<double> pause_below_;
  std::uint64_t seed_ = 0;
  std::int64_t observed_ = 0;
  std::int64_t flat_ = 0;
  bool paused_ = false;
  bool outdated_ = false;
};

}  // namespace allot::engine
