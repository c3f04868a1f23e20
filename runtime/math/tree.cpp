#include "runtime/math/tree.h"

#include <algorithm>
#include <numeric>

namespace allot::math {
namespace {

constexpr std::int64_t unknown = -1;

}  // namespace

bool walk_up(std::span<const std::int64_t> parents, std::span<std::int64_t> depths,
             std::span<std::int64_t> order) noexcept {
  const auto size = static_cast<std::int64_t>(parents.size());
  const auto parent = [&](std::int64_t node) { return parents[static_cast<std::size_t>(node)]; };
  const auto depth = [&](std::int64_t node) -> std::int64_t& { return depths[static_cast<std::size_t>(node)]; };
  if (!std::all_of(parents.begin(), parents.end(), [&](std::int64_t p) { return p >= -1 && p < size; })) return false;
  std::fill(depths.begin(), depths.end(), unknown);
  for (std::int64_t node = 0; node < size; ++node) {
    std::int64_t steps = 0;
    std::int64_t at = node;
    while (at >= 0 && depth(at) == unknown && steps <= size) {
      at = parent(at);
      ++steps;
    }
    if (steps > size) return false;
    // From the top of what is new down to the node: `steps` below what was known, or below nothing.
    std::int64_t own = (at >= 0 ? depth(at) : -1) + steps;
    for (std::int64_t below = node; below != at; below = parent(below)) depth(below) = own--;
  }
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return depth(a) != depth(b) ? depth(a) > depth(b) : a < b;
  });
  return true;
}

}  // namespace allot::math
