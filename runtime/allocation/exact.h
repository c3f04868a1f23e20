// Exact allotment of whole units under any utilities: dynamic programming over all counts, for small problems.
//
// Utilities are compared in grains, so sums of them have no rounding and ties are ties. Of equal totals the one that
// spends least counts, and of those the one that gives more to the lower items, as the greedy one does.
#pragma once

#include <vector>

#include "runtime/allocation/share.h"

namespace allot::allocation {

// How much memory and work a problem is: `values` utilities, `cells` choices, `steps` comparisons.
struct ExactSize {
  std::int64_t values = 0;
  std::int64_t cells = 0;
  std::int64_t steps = 0;
};
inline constexpr std::int64_t beyond = INT64_C(1) << 40;  // sizes saturate here
ExactSize exact_size(std::span<const Share> shares, std::int64_t budget) noexcept;

class Exact {
 public:
  // Of exact_size: `values` utilities, `best` as many as units can be spent plus one, `chosen` cells. Σ low <= budget,
  // and high − low < 65536.
  Exact(std::span<Share> shares, std::span<double> values, std::span<double> best, std::span<std::uint16_t> chosen)
      noexcept;

  bool ask(Question& question) noexcept;
  void tell(double value) noexcept { values_[next_++] = value; }

 private:
  void solve() noexcept;

  std::span<Share> shares_;
  std::span<double> values_;
  std::span<double> best_;
  std::span<std::uint16_t> chosen_;
  std::size_t next_ = 0;    // of values
  std::size_t item_ = 0;
  std::size_t first_ = 0;   // value of the item's low
};

}  // namespace allot::allocation
