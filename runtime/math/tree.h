// Nodes of a forest, each known by the position of its parent; -1 for a root. Sums go from the leaves up, children in the
// order of their position.
#pragma once

#include <cstdint>
#include <span>

namespace allot::math {

// The depth of each node, 0 for a root, and all nodes from the deepest up, those of one depth by position. False where a
// parent does not exist or nodes run in a circle. All spans are as long as `parents`.
bool walk_up(std::span<const std::int64_t> parents, std::span<std::int64_t> depths,
             std::span<std::int64_t> order) noexcept;

}  // namespace allot::math
