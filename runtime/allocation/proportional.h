// Whole shares in proportion to weights, within bounds, by the largest remainder (Hamilton's method).
//
// The real shares are clamp(t · weight, low, high) for the one t at which they sum to the budget; each is rounded down
// and what is left goes, one unit each, to the largest remainders. Remainders that differ by less than 2⁻³⁰ are equal,
// and equal ones go to the lower item. A weight of 0 gets its low, so units may be left.
#pragma once

#include "runtime/allocation/share.h"

namespace allot::allocation {

class Proportional {
 public:
  // `order` has as many elements as `shares`. Σ low <= budget.
  Proportional(std::span<Share> shares, std::span<std::int32_t> order, std::int64_t budget) noexcept
      : shares_(shares), order_(order), budget_(budget) {}

  // The weight of each item is asked once, with its low as count.
  bool ask(Question& question) noexcept;
  void tell(double weight) noexcept { shares_[next_++].value = weight; }  // weight >= 0

 private:
  void solve() noexcept;
  void divide(double budget) noexcept;

  std::span<Share> shares_;
  std::span<std::int32_t> order_;
  std::int64_t budget_ = 0;
  std::size_t next_ = 0;
  bool solved_ = false;
};

}  // namespace allot::allocation
