#include "runtime/statistics/subset.h"

#include <algorithm>
#include <numeric>

#include "runtime/math/round.h"
#include "runtime/math/sum.h"

namespace allot::statistics {
namespace {

// By how much a later split must be better, relative to the variance.
constexpr double least_gain = 1e-12;

// `from_low` ranks the members from the lowest value up. Keeps `count`: the first `lows` of it and the last others.
std::vector<int> ends_of(std::span<const int> from_low, int lows, int count) {
  std::vector<int> kept(from_low.begin(), from_low.begin() + lows);
  kept.insert(kept.end(), from_low.end() - (count - lows), from_low.end());
  return kept;
}

double variance_of(std::span<const double> values, std::span<const int> kept) {
  std::vector<double> picked;
  picked.reserve(kept.size());
  for (const int index : kept) picked.push_back(values[static_cast<std::size_t>(index)]);
  return math::variance(picked, 0).value_or(0.0);
}

// Of splits that are equal the first in `trials` (counts of low members) wins.
std::vector<int> best_split(std::span<const double> values, std::span<const int> from_low, int count,
                            std::span<const int> trials) {
  std::vector<int> best;
  double best_variance = -1.0;
  for (const int lows : trials) {
    std::vector<int> kept = ends_of(from_low, lows, count);
    const double variance = variance_of(values, kept);
    if (variance <= best_variance * (1.0 + least_gain)) continue;
    best = std::move(kept);
    best_variance = variance;
  }
  return best;
}

std::vector<int> first(std::vector<int> order, int count) {
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(count, 0))));
  return order;
}

}  // namespace

std::vector<int> argsort(std::span<const double> values, Direction direction) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [values](int index) { return values[static_cast<std::size_t>(index)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return direction == Direction::Ascending ? value(a) < value(b) : value(a) > value(b);
  });
  return order;
}

std::vector<int> top(std::span<const double> values, int count) {
  return first(argsort(values, Direction::Descending), count);
}

std::vector<int> nearest(std::span<const double> values, double target, int count) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(math::abs(value - target));
  return first(argsort(distances, Direction::Ascending), count);
}

std::vector<int> max_variance(std::span<const double> values, int count) {
  std::vector<int> trials(static_cast<std::size_t>(count) + 1);
  std::iota(trials.begin(), trials.end(), 0);
  std::vector<int> kept = best_split(values, argsort(values, Direction::Ascending), count, trials);
  std::sort(kept.begin(), kept.end());
  return kept;
}

std::vector<int> max_variance_descending(std::span<const double> values, int count) {
  const std::vector<int> order = argsort(values, Direction::Descending);
  const std::vector<int> from_low(order.rbegin(), order.rend());
  // The m highest first, then from all low members to all but one high.
  std::vector<int> trials = {0};
  for (int lows = count; lows > 0; --lows) trials.push_back(lows);
  std::vector<int> kept = best_split(values, from_low, count, trials);
  std::vector<int> rank(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  std::sort(kept.begin(), kept.end(),
            [&rank](int a, int b) { return rank[static_cast<std::size_t>(a)] < rank[static_cast<std::size_t>(b)]; });
  return kept;
}

int max_variance_hits(int hits, int misses, int count) {
  const int wanted = std::min(count / 2, hits);
  return std::max(wanted, count - misses);
}

}  // namespace allot::statistics
