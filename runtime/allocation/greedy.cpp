#include "runtime/allocation/greedy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/allocation/grain.h"

namespace allot::allocation {

namespace {
constexpr double nothing = -std::numeric_limits<double>::infinity();  // no unit may be added
}

Greedy::Greedy(std::span<Share> shares, std::span<std::int32_t> winners, std::int64_t budget) noexcept
    : shares_(shares), winners_(winners), left_(budget) {
  for (Share& share : shares_) {
    share.count = share.low;
    share.gain = nothing;
    left_ -= share.low;
  }
}

bool Greedy::better(std::int32_t a, std::int32_t b) const noexcept {
  const double left = shares_[static_cast<std::size_t>(a)].gain;
  const double right = shares_[static_cast<std::size_t>(b)].gain;
  return left > right || (left == right && a < b);
}

// Nodes size … 2 size − 1 are the items; node i plays the winners of 2 i and 2 i + 1.
std::int32_t Greedy::contender(std::size_t node) const noexcept {
  return node >= shares_.size() ? static_cast<std::int32_t>(node - shares_.size()) : winners_[node];
}

void Greedy::play(std::size_t item) noexcept {
  for (std::size_t node = (item + shares_.size()) / 2; node >= 1; node /= 2) {
    const std::int32_t a = contender(2 * node);
    const std::int32_t b = contender(2 * node + 1);
    winners_[node] = better(a, b) ? a : b;
  }
}

// The first gains are differences as they were told; in grains from here on.
void Greedy::start() noexcept {
  started_ = true;
  grain_ = grain(largest_);
  for (Share& share : shares_) {
    if (share.count < share.high) share.gain = grain_ > 0 ? in_grains(share.gain, grain_) : 0.0;
  }
  for (std::size_t node = shares_.size(); node-- > 1;) {
    const std::int32_t a = contender(2 * node);
    const std::int32_t b = contender(2 * node + 1);
    winners_[node] = better(a, b) ? a : b;
  }
}

bool Greedy::ask_first(Question& question) noexcept {
  for (; first_ < 2 * shares_.size(); ++first_) {
    const Share& share = shares_[first_ / 2];
    const bool second = first_ % 2 == 1;
    if (second && share.low == share.high) continue;
    asked_ = first_ / 2;
    question = {static_cast<std::int64_t>(asked_), share.low + (second ? 1 : 0)};
    return true;
  }
  return false;
}

bool Greedy::ask(Question& question) noexcept {
  if (!started_) {
    if (ask_first(question)) return true;
    start();
  }
  while (left_ > 0 && !shares_.empty()) {
    asked_ = static_cast<std::size_t>(contender(1));
    Share& best = shares_[asked_];
    if (!(best.gain > 0)) return false;
    --left_;
    ++best.count;
    best.value = best.next;
    if (best.count < best.high) {
      question = {static_cast<std::int64_t>(asked_), best.count + 1};
      return true;
    }
    best.gain = nothing;
    play(asked_);
  }
  return false;
}

void Greedy::tell(double value) noexcept {
  Share& share = shares_[asked_];
  if (!started_) {
    largest_ = std::max(largest_, std::fabs(value));
    if (first_++ % 2 == 0) {
      share.value = value;
    } else {
      share.next = value;
      share.gain = value - share.value;
    }
    return;
  }
  share.gain = std::min(share.gain, in_grains(value - share.value, grain_));
  share.next = value;
  play(asked_);
}

}  // namespace allot::allocation
