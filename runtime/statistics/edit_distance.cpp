#include "runtime/statistics/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/statistics/signals.h"
#include "runtime/statistics/tally.h"

namespace allot::statistics {

int edit_distance(std::span<const Symbol> a, std::span<const Symbol> b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

double normalized_edit_distance(std::span<const Symbol> a, std::span<const Symbol> b) {
  const std::size_t longer = std::max(a.size(), b.size());
  return longer == 0 ? 0.0 : edit_distance(a, b) / static_cast<double>(longer);
}

std::optional<PairSummary> group_prefix_edit(GroupActions group, int prefix, Padding padding, Scale scale) {
  if (group.size() < 2 || !prefix_known(group, prefix)) return std::nullopt;
  std::vector<std::vector<Symbol>> prefixes;
  for (const RolloutActions& rollout : group) prefixes.push_back(prefix_of(rollout.actions, prefix, padding));
  Tally tally(prefix);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    for (std::size_t j = i + 1; j < prefixes.size(); ++j) {
      const auto longer = static_cast<int>(std::max(prefixes[i].size(), prefixes[j].size()));
      tally.add(edit_distance(prefixes[i], prefixes[j]), longer);
    }
  }
  return tally.summary(scale);
}

}  // namespace allot::statistics
