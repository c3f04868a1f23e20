#include "compiler/allotment.h"

#include <algorithm>
#include <new>

#include "compiler/builtins/read.h"
#include "lang/limits.h"

namespace allot::compiler {

using allocation::Share;
using lang::Solver;

Allotting* Allotting::open(Scratch& scratch, Solver solver, std::int64_t budget, std::int64_t items) noexcept {
  static_assert(std::is_trivially_destructible_v<Allotting> && alignof(Allotting) <= alignof(Cell));
  Cell* const memory = scratch.take(static_cast<std::int64_t>((sizeof(Allotting) + sizeof(Cell) - 1) / sizeof(Cell)));
  Cell* const cells = scratch.take(items);
  const std::span<Share> shares = builtins::take<Share>(scratch, items);
  if (memory == nullptr || cells == nullptr || (shares.empty() && items > 0)) return nullptr;
  return new (static_cast<void*>(memory)) Allotting(solver, std::max<std::int64_t>(budget, 0), shares, cells);
}

FaultKind Allotting::bounds(std::int64_t item, std::int64_t low, std::int64_t high) noexcept {
  if (low < 0 || low > high) return FaultKind::Domain;
  shares_[static_cast<std::size_t>(item)] = {low, high, low, 0, 0, 0};
  return FaultKind::None;
}

FaultKind Allotting::begin(Scratch& scratch) noexcept {
  const std::int64_t lows = allocation::least(shares_, budget_);
  feasible_ = lows <= budget_;
  if (!feasible_) return FaultKind::None;
  if (solver_ == Solver::Exact) return begin_exact(scratch);
  const auto items = static_cast<std::int64_t>(shares_.size());
  const std::span<std::int32_t> order = builtins::take<std::int32_t>(scratch, items);
  if (order.empty() && items > 0) return FaultKind::OutOfMemory;
  if (solver_ == Solver::Proportional) {
    state_.emplace<allocation::Proportional>(shares_, order, budget_);
    return FaultKind::None;
  }
  const std::int64_t most = lang::limits.allotted_units + 1;
  if (allocation::room(shares_, std::min(budget_ - lows, most)) == most) return FaultKind::OutOfMemory;
  state_.emplace<allocation::Greedy>(shares_, order, budget_);
  return FaultKind::None;
}

FaultKind Allotting::begin_exact(Scratch& scratch) noexcept {
  const allocation::ExactSize size = allocation::exact_size(shares_, budget_);
  const bool wide = std::any_of(shares_.begin(), shares_.end(),
                                [](const Share& share) { return share.high - share.low > lang::limits.allotted_span; });
  if (wide || size.cells > lang::limits.allotted_cells || size.values > lang::limits.allotted_cells ||
      size.steps > lang::limits.allotted_steps) {
    return FaultKind::OutOfMemory;
  }
  const std::int64_t units = shares_.empty() ? 1 : size.cells / static_cast<std::int64_t>(shares_.size());
  const std::span<double> values = builtins::take<double>(scratch, size.values);
  const std::span<double> best = builtins::take<double>(scratch, units);
  const std::span<std::uint16_t> chosen = builtins::take<std::uint16_t>(scratch, size.cells);
  if ((values.empty() && size.values > 0) || best.empty() || (chosen.empty() && size.cells > 0)) {
    return FaultKind::OutOfMemory;
  }
  state_.emplace<allocation::Exact>(shares_, values, best, chosen);
  return FaultKind::None;
}

bool Allotting::ask(std::int64_t& item, std::int64_t& count) noexcept {
  allocation::Question question;
  bool asks = false;
  if (auto* const greedy = std::get_if<allocation::Greedy>(&state_)) asks = greedy->ask(question);
  if (auto* const exact = std::get_if<allocation::Exact>(&state_)) asks = exact->ask(question);
  if (auto* const proportional = std::get_if<allocation::Proportional>(&state_)) asks = proportional->ask(question);
  item = question.item;
  count = question.count;
  return asks;
}

FaultKind Allotting::tell(double value) noexcept {
  if (auto* const greedy = std::get_if<allocation::Greedy>(&state_)) greedy->tell(value);
  if (auto* const exact = std::get_if<allocation::Exact>(&state_)) exact->tell(value);
  if (auto* const proportional = std::get_if<allocation::Proportional>(&state_)) {
    if (value < 0) return FaultKind::Domain;
    proportional->tell(value);
  }
  return FaultKind::None;
}

const Cell* Allotting::counts() noexcept {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    cells_[i] = feasible_ ? Cell::of(shares_[i].count) : Cell::undefined();
  }
  return cells_;
}

}  // namespace allot::compiler
