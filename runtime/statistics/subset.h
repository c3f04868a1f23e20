// Which members of a group to keep. Indices count from 0 in the order of the values given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace allot::statistics {

enum class Direction : std::uint8_t { Ascending, Descending };

// Indices in the order of their values; equal values keep the order of their indices in both directions.
std::vector<int> argsort(std::span<const double> values, Direction direction);

// The `count` largest, largest first; ties to the lower index. All of them where there are fewer.
std::vector<int> top(std::span<const double> values, int count);

// The `count` values nearest to `target`, nearest first; ties to the lower index.
std::vector<int> nearest(std::span<const double> values, double target, int count);

// The `count` values whose variance is largest (PODS, arXiv:2504.13818), 0 <= count <= size. Some optimum is made of
// the lowest and the highest values, so only count + 1 splits are compared, by their population variance. The variance
// is unique, the set need not be.
//
// Members are ranked by (value, index), the lowest ranks are low and the highest high; of splits that are equal the one
// with fewer low members wins, and a difference of less than one part in 10^12 counts as equal, so that rounding decides
// no tie. Indices in ascending order.
std::vector<int> max_variance(std::span<const double> values, int count);
// As PODS was released: ranked by descending value, stable; of equal splits all high wins, then the one with the most
// low members; indices in the order of the ranks, high values first. The language's `max_variance` has the
// same variance and, as everywhere in it, gives equal members to the lower index.
std::vector<int> max_variance_descending(std::span<const double> values, int count);

// How many of the kept are hits where rewards are 0 or 1: half of them, rounded down, and what the other class lacks.
int max_variance_hits(int hits, int misses, int count);

}  // namespace allot::statistics
