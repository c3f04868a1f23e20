// Elements by class: an int for each element says where it belongs. O(n²) of short vectors is less than a hash table,
// and its order is that of the positions.
#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/sum.h"

namespace allot::compiler::builtins {
namespace {

bool same(const Column& classes, std::int64_t i, std::int64_t j) noexcept {
  return classes.cells[j].defined != 0 && classes.cells[i].integer() == classes.cells[j].integer();
}

// For each element `figure` of the defined values of its class, in order of position; undefined where the class is, or
// `figure` gives nothing.
template <typename Figure>
FaultKind by_class(const Value& values, const Column& classes, Value& result, Scratch& scratch, Figure figure) noexcept {
  const Column& column = values.column;
  if (column.size != classes.size) return FaultKind::Domain;
  const std::span<double> members = take<double>(scratch, column.size);
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (members.size() != cells.size() || static_cast<std::int64_t>(cells.size()) != column.size) {
    return FaultKind::OutOfMemory;
  }
  for (std::int64_t i = 0; i < column.size; ++i) {
    Cell& cell = cells[static_cast<std::size_t>(i)];
    cell = Cell::undefined();
    if (classes.cells[i].defined == 0) continue;
    std::size_t count = 0;
    for (std::int64_t j = 0; j < column.size; ++j) {
      if (same(classes, i, j) && column.cells[j].defined != 0) members[count++] = real(column.cells[j], values.base);
    }
    const std::optional<double> made = figure(std::span<const double>(members.first(count)));
    if (made) cell = Cell::of(*made);
  }
  return FaultKind::None;
}

}  // namespace

FaultKind sum_by(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return by_class(arguments[0], arguments[1].column, result, scratch,
                  [](std::span<const double> members) { return std::optional(math::sum(members)); });
}

FaultKind mean_by(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return by_class(arguments[0], arguments[1].column, result, scratch,
                  [](std::span<const double> members) { return math::mean(members); });
}

FaultKind std_by(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const std::int64_t ddof = integer(arguments[2]);
  if (ddof != 0 && ddof != 1) return FaultKind::Domain;
  return by_class(arguments[0], arguments[1].column, result, scratch, [&](std::span<const double> members) {
    return math::deviation(members, static_cast<int>(ddof));
  });
}

FaultKind count_by(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Column& classes = arguments[0].column;
  const std::span<Cell> cells = make(result, classes.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != classes.size) return FaultKind::OutOfMemory;
  for (std::int64_t i = 0; i < classes.size; ++i) {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < classes.size && classes.cells[i].defined != 0; ++j) count += same(classes, i, j) ? 1 : 0;
    cells[static_cast<std::size_t>(i)] = classes.cells[i].defined != 0 ? Cell::of(count) : Cell::undefined();
  }
  return FaultKind::None;
}

FaultKind distinct(const Value* arguments, Value& result, Scratch&) noexcept {
  const Column& classes = arguments[0].column;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < classes.size; ++i) {
    bool first = classes.cells[i].defined != 0;
    for (std::int64_t j = 0; j < i && first; ++j) first = !same(classes, i, j);
    count += first ? 1 : 0;
  }
  return give(result, count);
}

}  // namespace allot::compiler::builtins
