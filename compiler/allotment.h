// The solvers of runtime/allocation as both engines ask them: memory in the scratch of the call, faults by kind.
//
// In this order: open, bounds of each item, begin, then ask and tell until ask says no more, then counts.
#pragma once

#include <variant>

#include "compiler/executable.h"
#include "runtime/allocation/exact.h"
#include "runtime/allocation/greedy.h"
#include "runtime/allocation/proportional.h"

namespace allot::compiler {

class Allotting {
 public:
  // nullptr: the scratch is exhausted.
  static Allotting* open(Scratch& scratch, lang::Solver solver, std::int64_t budget, std::int64_t items) noexcept;

  // Domain for a low below 0 or above the high.
  FaultKind bounds(std::int64_t item, std::int64_t low, std::int64_t high) noexcept;
  // OutOfMemory where the problem is larger than lang::limits allow, or than the scratch.
  FaultKind begin(Scratch& scratch) noexcept;
  bool ask(std::int64_t& item, std::int64_t& count) noexcept;
  FaultKind tell(double value) noexcept;  // Domain for a weight below 0
  // One a item; all undefined where the lows are more than the budget.
  const Cell* counts() noexcept;

 private:
  Allotting(lang::Solver solver, std::int64_t budget, std::span<allocation::Share> shares, Cell* cells) noexcept
      : solver_(solver), budget_(budget), shares_(shares), cells_(cells) {}
  FaultKind begin_exact(Scratch& scratch) noexcept;

  lang::Solver solver_;
  bool feasible_ = false;
  std::int64_t budget_;
  std::span<allocation::Share> shares_;
  Cell* cells_;
  std::variant<std::monostate, allocation::Greedy, allocation::Exact, allocation::Proportional> state_;
};

}  // namespace allot::compiler
