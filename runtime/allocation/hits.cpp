#include "runtime/allocation/hits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/allocation/grain.h"

namespace allot::allocation {
namespace {

// The prompts of one pair of hits and misses.
struct Class {
  math::Beta belief;
  std::int64_t prompts = 0;
  std::int32_t above = 0;    // units whose gain is above the price
  std::int32_t at = 0;       // and at it
};

struct Classes {
  std::vector<Class> all;
  std::vector<std::int32_t> of;  // by prompt
};

// Pairs within a small square are found by their place in it, others by a map.
constexpr std::int64_t square = 1 << 16;

Classes classes(const math::Beta& prior, std::span<const std::int32_t> hits, std::span<const std::int32_t> misses) {
  Classes found;
  found.of.resize(hits.size());
  const auto fresh = [&](std::size_t i) {
    found.all.push_back({math::observe(prior, hits[i], misses[i])});
    return static_cast<std::int32_t>(found.all.size()) - 1;
  };
  if (hits.empty()) return found;
  const std::int64_t width = std::int64_t{*std::ranges::max_element(misses)} + 1;
  const std::int64_t height = std::int64_t{*std::ranges::max_element(hits)} + 1;
  if (width <= square && height <= square && width * height <= square) {
    std::vector<std::int32_t> table(static_cast<std::size_t>(width * height), -1);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      std::int32_t& known = table[static_cast<std::size_t>(hits[i] * width + misses[i])];
      if (known < 0) known = fresh(i);
      found.of[i] = known;
    }
  } else {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> table;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const auto [known, first] = table.try_emplace({hits[i], misses[i]}, 0);
      if (first) known->second = fresh(i);
      found.of[i] = known->second;
    }
  }
  for (const std::int32_t index : found.of) ++found.all[static_cast<std::size_t>(index)].prompts;
  return found;
}

// By class, `most` each: the gain of the k-th unit in grains, falling as Greedy sees it, and beta_hit of k units.
struct Table {
  std::vector<double> gains;
  std::vector<double> utilities;
};

Table tabulated(const std::vector<Class>& all, std::int32_t most) {
  double largest = 0;
  for (const Class& one : all) largest = std::max(largest, math::beta_hit(one.belief, 1));
  const double unit = grain(largest);
  const std::size_t size = all.size() * static_cast<std::size_t>(most);
  Table result{std::vector<double>(size, 0.0), std::vector<double>(size, 0.0)};
  if (!(unit > 0)) return result;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const math::Beta& belief = all[c].belief;
    const double sum = belief.a + belief.b;
    double missed = 1;  // the chance that none of the rollouts so far hits
    double last = in_grains(2.0, unit);
    for (std::int32_t j = 0; j < most && last > 0; ++j) {
      const double before = 1.0 - missed;
      missed *= (belief.b + j) / (sum + j);
      last = std::min(last, in_grains((1.0 - missed) - before, unit));
      const std::size_t place = c * static_cast<std::size_t>(most) + static_cast<std::size_t>(j);
      result.gains[place] = last;
      result.utilities[place] = 1.0 - missed;
    }
  }
  return result;
}

}  // namespace

HitAllotment allot_hits(const math::Beta& prior, std::span<const std::int32_t> hits, std::span<const std::int32_t> misses,
                        std::int64_t budget, std::int32_t most) {
  HitAllotment result{std::vector<std::int32_t>(hits.size(), 0)};
  if (hits.empty() || most == 0 || budget == 0) return result;
  Classes found = classes(prior, hits, misses);
  const Table table = tabulated(found.all, most);
  const std::vector<double>& all = table.gains;
  const auto row = [&](std::size_t c) {
    return std::span(all).subspan(c * static_cast<std::size_t>(most), static_cast<std::size_t>(most));
  };
  // Units with a gain above the price, by class; how many in all.
  const auto above = [&](double price) {
    std::int64_t units = 0;
    for (std::size_t c = 0; c < found.all.size(); ++c) {
      const auto mine = row(c);
      Class& one = found.all[c];
      const auto end = std::ranges::partition_point(mine, [&](double gain) { return gain > price; });
      one.above = static_cast<std::int32_t>(end - mine.begin());
      units += one.above * one.prompts;
    }
    return units;
  };
  // The lowest price at which no more than the budget is taken; gains are whole numbers.
  double low = 0;
  double high = *std::ranges::max_element(all);
  while (low < high) {
    const double middle = low + static_cast<double>(static_cast<std::int64_t>((high - low) / 2));
    if (above(middle) > budget) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  std::int64_t left = budget - above(low);
  for (std::size_t c = 0; c < found.all.size(); ++c) {
    Class& one = found.all[c];
    one.at = low > 0 ? static_cast<std::int32_t>(std::ranges::count(row(c), low)) : 0;
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto c = static_cast<std::size_t>(found.of[i]);
    const Class& one = found.all[c];
    const auto more = static_cast<std::int32_t>(std::min<std::int64_t>(one.at, left));
    left -= more;
    result.counts[i] = one.above + more;
    if (result.counts[i] == 0) continue;
    result.utility += table.utilities[c * static_cast<std::size_t>(most) + static_cast<std::size_t>(result.counts[i]) - 1];
  }
  return result;
}

}  // namespace allot::allocation
