// The solvers for callers in C++ who have the utility as a function.
#pragma once

#include <optional>
#include <vector>

#include "runtime/allocation/exact.h"
#include "runtime/allocation/greedy.h"
#include "runtime/allocation/proportional.h"

namespace allot::allocation {

template <typename Solver, typename Utility>
void answer(Solver& solver, const Utility& utility) {
  for (Question question; solver.ask(question);) solver.tell(utility(question.item, question.count));
}

// `utility(item, count)` is a double. Nothing where Σ low > budget.
template <typename Utility>
std::optional<std::vector<Share>> greedy(std::vector<Share> shares, std::int64_t budget, const Utility& utility) {
  if (least(shares, budget) > budget) return std::nullopt;
  std::vector<std::int32_t> winners(shares.size());
  Greedy solver(shares, winners, budget);
  answer(solver, utility);
  return shares;
}

template <typename Utility>
std::optional<std::vector<Share>> exact(std::vector<Share> shares, std::int64_t budget, const Utility& utility) {
  if (least(shares, budget) > budget) return std::nullopt;
  const ExactSize size = exact_size(shares, budget);
  std::vector<double> values(static_cast<std::size_t>(size.values));
  std::vector<double> best(static_cast<std::size_t>(room(shares, budget - least(shares, budget)) + 1));
  std::vector<std::uint16_t> chosen(static_cast<std::size_t>(size.cells));
  Exact solver(shares, values, best, chosen);
  answer(solver, utility);
  return shares;
}

template <typename Weight>
std::optional<std::vector<Share>> proportional(std::vector<Share> shares, std::int64_t budget, const Weight& weight) {
  if (least(shares, budget) > budget) return std::nullopt;
  std::vector<std::int32_t> order(shares.size());
  Proportional solver(shares, order, budget);
  answer(solver, [&](std::int64_t item, std::int64_t) { return weight(item); });
  return shares;
}

}  // namespace allot::allocation
