#include "runtime/statistics/signals.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/math/elementary.h"

namespace allot::statistics {
namespace {

std::size_t size(int value) {
  return static_cast<std::size_t>(value);
}

Symbol symbol_at(std::span<const Symbol> actions, int turn) {
  return actions.size() >= size(turn) ? actions[size(turn) - 1] : end_symbol;
}

// How often each symbol stands at the turn, in order of the symbols.
std::vector<int> symbol_counts(GroupActions group, int turn) {
  std::vector<Symbol> symbols;
  for (const RolloutActions& rollout : group) symbols.push_back(symbol_at(rollout.actions, turn));
  std::sort(symbols.begin(), symbols.end());
  std::vector<int> counts;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (i == 0 || symbols[i] != symbols[i - 1]) counts.push_back(0);
    ++counts.back();
  }
  return counts;
}

bool defined_at(GroupActions group, int turn) {
  return !group.empty() && turn >= 1 && prefix_known(group, turn);
}

using Bigrams = std::set<std::pair<Symbol, Symbol>>;

Bigrams bigrams(std::span<const Symbol> symbols) {
  Bigrams result;
  for (std::size_t i = 1; i < symbols.size(); ++i) result.emplace(symbols[i - 1], symbols[i]);
  return result;
}

double jaccard_distance(const Bigrams& a, const Bigrams& b) {
  if (a.empty() && b.empty()) return 0.0;
  const auto common = std::count_if(a.begin(), a.end(), [&b](const auto& pair) { return b.contains(pair); });
  const auto all = static_cast<std::ptrdiff_t>(a.size() + b.size()) - common;
  return 1.0 - static_cast<double>(common) / static_cast<double>(all);
}

double surprise(double probability, EntropyUnit unit) {
  if (probability <= 0) return 0.0;
  return -probability * (unit == EntropyUnit::Bits ? math::log2(probability) : math::log(probability));
}

}  // namespace

bool prefix_known(GroupActions group, int turn) {
  return std::all_of(group.begin(), group.end(), [turn](const RolloutActions& rollout) {
    return rollout.ended || static_cast<int>(rollout.actions.size()) >= turn;
  });
}

std::vector<Symbol> prefix_of(std::span<const Symbol> actions, int length, Padding padding) {
  const std::span<const Symbol> kept = actions.first(std::min(actions.size(), size(length)));
  std::vector<Symbol> prefix(kept.begin(), kept.end());
  if (padding == Padding::Padded) prefix.resize(size(length), end_symbol);
  return prefix;
}

std::optional<double> unique_prefix_ratio(GroupActions group, int prefix) {
  if (group.empty() || prefix < 0 || !prefix_known(group, prefix)) return std::nullopt;
  std::set<std::vector<Symbol>> distinct;
  for (const RolloutActions& rollout : group) distinct.insert(prefix_of(rollout.actions, prefix, Padding::Padded));
  return static_cast<double>(distinct.size()) / static_cast<double>(group.size());
}

std::optional<double> unique_action_ratio(GroupActions group, int turn) {
  if (!defined_at(group, turn)) return std::nullopt;
  return static_cast<double>(symbol_counts(group, turn).size()) / static_cast<double>(group.size());
}

std::optional<double> agreement(GroupActions group, int turn) {
  if (!defined_at(group, turn)) return std::nullopt;
  const std::vector<int> counts = symbol_counts(group, turn);
  return *std::max_element(counts.begin(), counts.end()) / static_cast<double>(group.size());
}

std::optional<double> finished_fraction(GroupActions group, int turn) {
  if (!defined_at(group, turn)) return std::nullopt;
  const auto finished = std::count_if(group.begin(), group.end(), [turn](const RolloutActions& rollout) {
    return rollout.actions.size() < size(turn);
  });
  return static_cast<double>(finished) / static_cast<double>(group.size());
}

std::optional<double> action_entropy(GroupActions group, int turn, EntropyUnit unit) {
  if (!defined_at(group, turn)) return std::nullopt;
  const auto count = static_cast<double>(group.size());
  double total = 0;
  for (const int times : symbol_counts(group, turn)) total += surprise(times / count, unit);
  if (unit != EntropyUnit::Normalized) return total;
  return group.size() < 2 ? 0.0 : std::min(total / math::log(count), 1.0);
}

double entropy(std::span<const double> probabilities, EntropyUnit unit) {
  double total = 0;
  for (const double probability : probabilities) total += surprise(probability, unit);
  if (unit != EntropyUnit::Normalized) return total;
  return probabilities.size() < 2 ? 0.0 : total / math::log(static_cast<double>(probabilities.size()));
}

std::optional<PairSummary> bigram_jaccard(GroupActions group, int prefix, Padding padding) {
  if (group.size() < 2 || prefix < 0 || !prefix_known(group, prefix)) return std::nullopt;
  std::vector<Bigrams> sets;
  for (const RolloutActions& rollout : group) sets.push_back(bigrams(prefix_of(rollout.actions, prefix, padding)));
  PairSummary result{.mean = 0, .min = 1, .max = 0};
  int pairs = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t j = i + 1; j < sets.size(); ++j, ++pairs) {
      const double distance = jaccard_distance(sets[i], sets[j]);
      result.mean += distance;
      result.min = std::min(result.min, distance);
      result.max = std::max(result.max, distance);
    }
  }
  result.mean /= pairs;
  return result;
}

double repetition(std::span<const Symbol> symbols, int n) {
  if (n < 1 || symbols.size() < size(n)) return 0.0;
  std::set<std::vector<Symbol>> distinct;
  const std::size_t count = symbols.size() - size(n) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const Symbol> gram = symbols.subspan(i, size(n));
    distinct.emplace(gram.begin(), gram.end());
  }
  return 1.0 - static_cast<double>(distinct.size()) / static_cast<double>(count);
}

bool loops(std::span<const Exchange> turns, int k) {
  if (k < 1 || turns.size() < size(k) + 1) return false;
  const std::span<const Exchange> last = turns.last(size(k));
  const std::span<const Exchange> before = turns.first(turns.size() - 1);
  return std::search(before.begin(), before.end(), last.begin(), last.end()) != before.end();
}

}  // namespace allot::statistics
