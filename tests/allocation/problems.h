// Small random problems, and the answer by trying everything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "runtime/allocation/share.h"

namespace allot::allocation::test {

using Utility = std::function<double(std::int64_t, std::int64_t)>;

inline std::vector<std::int64_t> counts(const std::vector<Share>& shares) {
  std::vector<std::int64_t> result;
  for (const Share& share : shares) result.push_back(share.count);
  return result;
}

inline std::vector<Share> boxes(std::size_t items, std::int64_t low, std::int64_t high) {
  std::vector<Share> result(items);
  for (Share& share : result) {
    share.low = low;
    share.high = high;
  }
  return result;
}

inline std::vector<Share> random_boxes(std::mt19937& random, std::size_t items) {
  std::vector<Share> result(items);
  for (Share& share : result) {
    share.low = static_cast<std::int64_t>(random() % 3);
    share.high = share.low + static_cast<std::int64_t>(random() % 5);
  }
  return result;
}

inline double value_of(const std::vector<Share>& shares, const Utility& utility) {
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) sum += utility(static_cast<std::int64_t>(i), shares[i].count);
  return sum;
}

// The largest total of all counts within the boxes and the budget.
inline double best_by_trying(std::vector<Share> shares, std::int64_t budget, const Utility& utility,
                             std::size_t item = 0) {
  if (item == shares.size()) return spent(shares) <= budget ? value_of(shares, utility) : -1e300;
  double best = -1e300;
  for (std::int64_t count = shares[item].low; count <= shares[item].high; ++count) {
    shares[item].count = count;
    best = std::max(best, best_by_trying(shares, budget, utility, item + 1));
  }
  return best;
}

inline bool within(const std::vector<Share>& shares, std::int64_t budget) {
  const bool boxed = std::all_of(shares.begin(), shares.end(), [](const Share& share) {
    return share.low <= share.count && share.count <= share.high;
  });
  return boxed && spent(shares) <= budget;
}

}  // namespace allot::allocation::test
