#include "runtime/allocation/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/allocation/grain.h"

namespace allot::allocation {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? beyond : std::min(result, beyond);
}

}  // namespace

ExactSize exact_size(std::span<const Share> shares, std::int64_t budget) noexcept {
  const std::int64_t units = room(shares, std::min(budget - least(shares, budget), beyond)) + 1;
  std::int64_t widest = 0;
  for (const Share& share : shares) widest = std::max(widest, share.high - share.low);
  const auto items = static_cast<std::int64_t>(shares.size());
  ExactSize size;
  size.values = std::min(room(shares, beyond) + items, beyond);
  size.cells = product(items, units);
  size.steps = product(size.cells, std::min(widest, beyond) + 1);
  return size;
}

Exact::Exact(std::span<Share> shares, std::span<double> values, std::span<double> best,
             std::span<std::uint16_t> chosen) noexcept
    : shares_(shares), values_(values), best_(best), chosen_(chosen) {
  for (Share& share : shares_) share.count = share.low;
}

bool Exact::ask(Question& question) noexcept {
  for (; item_ < shares_.size(); ++item_) {
    const Share& share = shares_[item_];
    const std::int64_t count = share.low + static_cast<std::int64_t>(next_ - first_);
    if (count <= share.high) {
      question = {static_cast<std::int64_t>(item_), count};
      return true;
    }
    first_ = next_;
  }
  if (item_ == shares_.size()) solve();
  ++item_;  // solved once
  return false;
}

// best_[b] is the most that the items from here on can give for exactly b units above their lows.
void Exact::solve() noexcept {
  double largest = 0;
  for (const double value : values_) largest = std::max(largest, std::fabs(value));
  const double unit = grain(largest);
  const auto in_units = [&](std::size_t i) { return unit > 0 ? in_grains(values_[i], unit) : 0.0; };
  std::ranges::fill(best_, never);
  best_[0] = 0;
  const std::size_t width = best_.size();
  std::size_t end = values_.size();
  for (std::size_t item = shares_.size(); item-- > 0;) {
    const auto span = static_cast<std::size_t>(shares_[item].high - shares_[item].low);
    const std::size_t begin = end - span - 1;
    for (std::size_t i = begin; i < end; ++i) values_[i] = in_units(i);
    for (std::size_t b = width; b-- > 0;) {
      double most = never;
      std::size_t choice = 0;
      for (std::size_t k = std::min(span, b) + 1; k-- > 0;) {
        const double sum = values_[begin + k] + best_[b - k];
        if (sum > most) {
          most = sum;
          choice = k;
        }
      }
      best_[b] = most;
      chosen_[item * width + b] = static_cast<std::uint16_t>(choice);
    }
    end = begin;
  }
  auto left = static_cast<std::size_t>(std::max_element(best_.begin(), best_.end()) - best_.begin());
  for (std::size_t item = 0, begin = 0; item < shares_.size(); ++item) {
    Share& share = shares_[item];
    const std::size_t choice = chosen_[item * width + left];
    share.count = share.low + static_cast<std::int64_t>(choice);
    share.value = unit * values_[begin + choice];
    begin += static_cast<std::size_t>(share.high - share.low) + 1;
    left -= choice;
  }
}

}  // namespace allot::allocation
