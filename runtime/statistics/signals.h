// How alike the rollouts of a group are, and how much a rollout repeats itself; definitions of allocation.md §14.
//
// Turns count from 1. At turn K a rollout that ended earlier shows END, which counts as a symbol. Everything about
// turn or prefix K is undefined for an empty group and while a live rollout has fewer than K actions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/statistics/symbol.h"

namespace allot::statistics {

// Every rollout has ended or has at least `turn` actions.
bool prefix_known(GroupActions group, int turn);
// The first `length` actions, with END up to that length where padded.
std::vector<Symbol> prefix_of(std::span<const Symbol> actions, int length, Padding padding);

// Different prefixes / rollouts, 1/G … 1. The same padded or not, since END is no action.
std::optional<double> unique_prefix_ratio(GroupActions group, int prefix);
// Different symbols at the turn / rollouts, 1/G … 1.
std::optional<double> unique_action_ratio(GroupActions group, int turn);
// Largest share of one symbol at the turn, 1/G … 1.
std::optional<double> agreement(GroupActions group, int turn);
// Share of rollouts that ended with fewer than `turn` actions, 0 … 1.
std::optional<double> finished_fraction(GroupActions group, int turn);

enum class EntropyUnit : std::uint8_t { Bits, Nats, Normalized };
// Shannon entropy of the symbols at the turn. Normalised: divided by log G, 0 … 1, and 0 for a group of one.
std::optional<double> action_entropy(GroupActions group, int turn, EntropyUnit unit);
// Of a distribution; terms of probability 0 add nothing. Normalised: by the log of the number of entries.
double entropy(std::span<const double> probabilities, EntropyUnit unit);

// 1 − |A ∩ B| / |A ∪ B| over the sets of adjacent pairs in the prefixes, for every pair of rollouts; 0 where both sets
// are empty. Undefined below two rollouts.
std::optional<PairSummary> bigram_jaccard(GroupActions group, int prefix, Padding padding);

// 1 − different n-grams / n-grams, n >= 1; 0 for fewer than n symbols (there is nothing to repeat).
double repetition(std::span<const Symbol> symbols, int n);

// One turn of a rollout as it is compared.
struct Exchange {
  Symbol action = 0;
  Symbol observation = 0;
  friend bool operator==(const Exchange&, const Exchange&) = default;
};
// The last `k` exchanges, k >= 1, occurred before in the same order, possibly overlapping the last ones.
bool loops(std::span<const Exchange> turns, int k);

}  // namespace allot::statistics
