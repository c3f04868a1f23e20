#include "runtime/allocation/proportional.h"

#include <algorithm>
#include <numeric>

#include "runtime/math/round.h"

namespace allot::allocation {
namespace {

constexpr double tie = 0x1p-30;

// The real share at t; a weight of 0 has its low at every t.
double at(const Share& share, double t) noexcept {
  if (!(share.value > 0)) return static_cast<double>(share.low);
  return math::clamp(share.value * t, static_cast<double>(share.low), static_cast<double>(share.high));
}

double sum_at(std::span<const Share> shares, double t) noexcept {
  double sum = 0;
  for (const Share& share : shares) sum += at(share, t);
  return sum;
}

}  // namespace

bool Proportional::ask(Question& question) noexcept {
  if (next_ < shares_.size()) {
    question = {static_cast<std::int64_t>(next_), shares_[next_].low};
    return true;
  }
  if (!solved_) solve();
  solved_ = true;
  return false;
}

// The real shares, into `gain`. Halving finds who is held by a bound; t then follows from the others alone.
void Proportional::divide(double budget) noexcept {
  double heaviest = 0;
  double highest = 0;
  for (const Share& share : shares_) {
    if (share.value > 0) {
      heaviest = std::max(heaviest, share.value);
      highest = std::max(highest, static_cast<double>(share.high) / share.value);
    }
  }
  double below = 0;
  double above = std::min(highest, 1e300);
  for (int i = 0; i < 200 && sum_at(shares_, above) > budget; ++i) {
    const double middle = below + (above - below) / 2;
    if (middle == below || middle == above) break;
    (sum_at(shares_, middle) > budget ? above : below) = middle;
  }
  const double t = sum_at(shares_, above) > budget ? below : above;
  double free = 0;
  double held = 0;
  for (const Share& share : shares_) {
    const double real = at(share, t);
    const bool bound = !(share.value > 0) || real <= static_cast<double>(share.low) ||
                       real >= static_cast<double>(share.high);
    (bound ? held : free) += bound ? real : share.value;
  }
  const double exact = free > 0 ? (budget - held) / free : t;
  for (Share& share : shares_) {
    const double real = at(share, t);
    const bool bound = real <= static_cast<double>(share.low) || real >= static_cast<double>(share.high);
    share.gain = bound ? real : at(share, exact);
  }
}

void Proportional::solve() noexcept {
  std::int64_t most = 0;
  for (const Share& share : shares_) {
    const std::int64_t may = share.value > 0 ? share.high : share.low;
    most = may > budget_ - most ? budget_ : most + may;
  }
  divide(static_cast<double>(most));
  std::int64_t left = most;
  for (Share& share : shares_) {
    const double whole = math::floor(share.gain + tie);
    share.count = std::clamp(static_cast<std::int64_t>(whole), share.low, share.high);
    share.gain = share.count < share.high && share.value > 0 ? math::floor((share.gain - whole) / tie) : -1.0;
    left -= share.count;
  }
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    const double left_gain = shares_[static_cast<std::size_t>(a)].gain;
    const double right_gain = shares_[static_cast<std::size_t>(b)].gain;
    return left_gain > right_gain || (left_gain == right_gain && a < b);
  });
  for (const std::int32_t item : order_) {
    Share& share = shares_[static_cast<std::size_t>(item)];
    if (left <= 0 || share.gain < -0.5) break;
    ++share.count;
    --left;
  }
}

}  // namespace allot::allocation
