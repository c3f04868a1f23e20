// Levenshtein distance on symbols: inserting, deleting and replacing one cost 1 each.
#pragma once

#include <optional>
#include <span>

#include "runtime/statistics/symbol.h"

namespace allot::statistics {

// In symbols, 0 … the longer length. Time |a|·|b|, memory |b|.
int edit_distance(std::span<const Symbol> a, std::span<const Symbol> b);

// The same divided by the longer length, 0 … 1; two empty sequences have 0.
double normalized_edit_distance(std::span<const Symbol> a, std::span<const Symbol> b);

// All pairs of the prefixes of length `prefix` of a group, from scratch: the definition that PrefixEdit is tested
// against. Undefined where there is no pair, and where a live rollout has not reached the prefix yet.
std::optional<PairSummary> group_prefix_edit(GroupActions group, int prefix, Padding padding, Scale scale);

}  // namespace allot::statistics
