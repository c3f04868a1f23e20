// The subset whose rewards vary most: Xu et al., "Not All Rollouts are Useful" (PODS), arXiv:2504.13818, theorem 1: it
// is always the k smallest and the m − k largest, for some k.
#include <algorithm>
#include <cmath>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/order.h"
#include "compiler/builtins/read.h"
#include "runtime/math/sum.h"

namespace allot::compiler::builtins {
namespace {

// Variances that differ by less are equal: {0, 0, 1} and {0, 1, 1} differ by rounding only.
constexpr double tolerance = 1e-12;

// `sorted` ascending. How many of the smallest to take; of equal variances the most.
std::size_t smallest_to_take(std::span<const double> sorted, std::size_t wanted, std::span<double> room) noexcept {
  std::size_t best = 0;
  double most = 0;
  for (std::size_t low = 0; low <= wanted; ++low) {
    std::copy_n(sorted.begin(), low, room.begin());
    std::copy(sorted.end() - static_cast<std::ptrdiff_t>(wanted - low), sorted.end(),
              room.begin() + static_cast<std::ptrdiff_t>(low));
    const double variance = math::variance(room.first(wanted), 0).value_or(0);
    if (variance < most * (1 - tolerance)) continue;
    most = std::max(most, variance);
    best = low;
  }
  return best;
}

}  // namespace

FaultKind max_variance(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Value& vector = arguments[0];
  if (integer(arguments[1]) < 0) return FaultKind::Domain;
  const Positions ascending = sorted_positions(vector, Direction::Ascending, scratch);
  if (!ascending.ok) return FaultKind::OutOfMemory;
  const std::size_t count = ascending.values.size();
  const std::size_t wanted = std::min(count, static_cast<std::size_t>(integer(arguments[1])));
  if (wanted < count) {
    const Positions descending = sorted_positions(vector, Direction::Descending, scratch);
    const auto cells = static_cast<std::int64_t>(count);
    const std::span<double> sorted = take<double>(scratch, cells);
    const std::span<double> room = take<double>(scratch, cells);
    if (!descending.ok || sorted.empty() || room.empty()) return FaultKind::OutOfMemory;
    std::transform(ascending.values.begin(), ascending.values.end(), sorted.begin(),
                   [&](std::int64_t i) { return real(vector.column.cells[i], vector.base); });
    // The widest spread there is: where it can be told, all can.
    if (!std::isfinite(math::variance(sorted, 0).value_or(0) * static_cast<double>(count))) return FaultKind::NotFinite;
    const std::size_t low = smallest_to_take(sorted, wanted, room);
    // The largest follow the smallest in place; a tie may put one element in both lists, it counts once.
    std::size_t filled = low;
    for (std::size_t i = 0; i < count && filled < wanted; ++i) {
      const std::int64_t position = descending.values[i];
      const auto taken = ascending.values.first(low);
      if (std::find(taken.begin(), taken.end(), position) == taken.end()) ascending.values[filled++] = position;
    }
  }
  const std::span<std::int64_t> chosen = ascending.values.first(wanted);
  std::sort(chosen.begin(), chosen.end());
  return give(result, chosen, scratch);
}

}  // namespace allot::compiler::builtins
