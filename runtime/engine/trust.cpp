#include "runtime/engine/trust.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/math/random.h"

namespace allot::engine {
namespace {

constexpr std::int64_t enough_groups = 10;
constexpr double z = 1.959963984540054;  // Φ⁻¹(0.975)

}  // namespace

Interval wilson(std::int64_t successes, std::int64_t trials) {
  if (trials <= 0) return {};
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

bool Trust::in_holdout(std::string_view prompt, int iteration, int slot, int round) const {
  if (holdout_ <= 0) return false;
  const auto part = [](int value) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)); };
  const std::uint64_t key = math::combine(math::combine(seed_, math::hash_text("holdout")), math::hash_text(prompt));
  return math::uniform(key, part(iteration), part(slot) << 32 | part(round)) < holdout_;
}

void Trust::observe(bool flat) {
  ++observed_;
  flat_ += flat;
}

std::optional<double> Trust::precision() const {
  if (observed_ == 0) return std::nullopt;
  return static_cast<double>(flat_) / static_cast<double>(observed_);
}

std::optional<std::string> Trust::review() {
  if (paused_ || outdated_ || !pause_below_ || observed_ < enough_groups || *precision() >= *pause_below_) return std::nullopt;
  paused_ = true;
  const Interval interval = wilson(flat_, observed_);
  return fmt::format(
      "paused: of {} held-out groups that the policy would have stopped, {} ended flat ({:.2f}, 95 % interval {:.2f} to "
      "{:.2f}), below {}; from now on the policy decides in shadow and changes nothing.",
      observed_, flat_, *precision(), interval.low, interval.high, *pause_below_);
}

void Trust::renew() {
  if (outdated_) restore(0, 0, false);
}

void Trust::restore(std::int64_t observed, std::int64_t flat, bool paused) {
  observed_ = observed;
  flat_ = flat;
  paused_ = paused;
  outdated_ = false;
}

}  // namespace allot::engine
