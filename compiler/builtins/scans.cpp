// Running sums, from the first element on or from the last back; and elements picked by position.
#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"

namespace allot::compiler::builtins {
namespace {

FaultKind discount(const Value& vector, double gamma, const Column* classes, Value& result, Scratch& scratch) noexcept {
  const Column& column = vector.column;
  if (classes != nullptr && classes->size != column.size) return FaultKind::Domain;
  const std::span<double> totals = take<double>(scratch, column.size);
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (totals.size() != cells.size() || static_cast<std::int64_t>(cells.size()) != column.size) {
    return FaultKind::OutOfMemory;
  }
  for (std::int64_t i = column.size - 1; i >= 0; --i) {
    std::int64_t next = i + 1;
    const bool apart = classes != nullptr && classes->cells[i].defined == 0;
    while (classes != nullptr && !apart && next < column.size &&
           (classes->cells[next].defined == 0 || classes->cells[next].integer() != classes->cells[i].integer())) {
      ++next;
    }
    const bool last = apart || next >= column.size;
    const Cell& own = column.cells[i];
    const auto at = static_cast<std::size_t>(i);
    totals[at] = (own.defined != 0 ? real(own, vector.base) : 0.0) +
                 (last ? 0.0 : gamma * totals[static_cast<std::size_t>(next)]);
    cells[at] = own.defined != 0 && !apart ? Cell::of(totals[at]) : Cell::undefined();
  }
  return FaultKind::None;
}

}  // namespace

FaultKind prefix_sum(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Column& column = arguments[0].column;
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != column.size) return FaultKind::OutOfMemory;
  double total = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& own = column.cells[i];
    if (own.defined != 0) total += real(own, arguments[0].base);
    cells[i] = own.defined != 0 ? Cell::of(total) : Cell::undefined();
  }
  return FaultKind::None;
}

FaultKind discounted(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return discount(arguments[0], real(arguments[1]), nullptr, result, scratch);
}

FaultKind discounted_by(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return discount(arguments[0], real(arguments[2]), &arguments[1].column, result, scratch);
}

FaultKind pick(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Column& from = arguments[0].column;
  const Column& positions = arguments[1].column;
  const std::span<Cell> cells = make(result, positions.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != positions.size) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::int64_t at = positions.cells[i].defined != 0 ? positions.cells[i].integer() : -1;
    if (at >= from.size) return FaultKind::IndexOutOfRange;
    const bool there = at >= 0 && from.cells[at].defined != 0;
    cells[i] = there ? Cell::of(real(from.cells[at], arguments[0].base)) : Cell::undefined();
  }
  return FaultKind::None;
}

}  // namespace allot::compiler::builtins
