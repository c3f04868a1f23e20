// From the leaves of a tree up: sums, means and largest values of what lies at and below each node.
#include "runtime/math/tree.h"

#include <algorithm>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/round.h"

namespace allot::compiler::builtins {
namespace {

// Parents, depths and the order from the deepest node up. `fault` is Domain where they are no tree.
struct Tree {
  FaultKind fault = FaultKind::OutOfMemory;
  std::span<const std::int64_t> parents;
  std::span<std::int64_t> depths;
  std::span<std::int64_t> order;
};

Tree tree(const Value& vector, Scratch& scratch) noexcept {
  const Column& column = vector.column;
  const std::span<std::int64_t> parents = take<std::int64_t>(scratch, column.size);
  Tree made;
  made.depths = take<std::int64_t>(scratch, column.size);
  made.order = take<std::int64_t>(scratch, column.size);
  const auto size = static_cast<std::size_t>(column.size);
  if (parents.size() != size || made.depths.size() != size || made.order.size() != size) return made;
  for (std::size_t i = 0; i < size; ++i) parents[i] = column.cells[i].defined != 0 ? column.cells[i].integer() : -1;
  made.parents = parents;
  made.fault = math::walk_up(parents, made.depths, made.order) ? FaultKind::None : FaultKind::Domain;
  return made;
}

// Starts from the elements themselves; `join` takes the value of a node into that of its parent.
template <typename Join>
FaultKind upwards(const Value* arguments, Value& result, Scratch& scratch, Join join) noexcept {
  const Column& column = arguments[0].column;
  if (column.size != arguments[1].column.size) return FaultKind::Domain;
  const Tree of = tree(arguments[1], scratch);
  if (of.fault != FaultKind::None) return of.fault;
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != column.size) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = column.cells[i];
    cells[i] = cell.defined != 0 ? Cell::of(real(cell, arguments[0].base)) : Cell::undefined();
  }
  for (const std::int64_t node : of.order) {
    const std::int64_t parent = of.parents[static_cast<std::size_t>(node)];
    if (parent >= 0) join(cells, static_cast<std::size_t>(node), static_cast<std::size_t>(parent));
  }
  return FaultKind::None;
}

}  // namespace

FaultKind tree_sum(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const FaultKind fault = upwards(arguments, result, scratch, [](auto cells, std::size_t node, std::size_t parent) {
    cells[parent] = Cell::of((cells[parent].defined != 0 ? cells[parent].real() : 0.0) +
                             (cells[node].defined != 0 ? cells[node].real() : 0.0));
  });
  if (fault != FaultKind::None) return fault;
  auto* const cells = const_cast<Cell*>(result.column.cells);
  std::replace_if(cells, cells + result.column.size, [](const Cell& cell) { return cell.defined == 0; }, Cell::of(0.0));
  return FaultKind::None;
}

FaultKind tree_count(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Column& column = arguments[0].column;
  if (column.size != arguments[1].column.size) return FaultKind::Domain;
  const Tree of = tree(arguments[1], scratch);
  if (of.fault != FaultKind::None) return of.fault;
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != column.size) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = Cell::of(std::int64_t{column.cells[i].defined != 0});
  for (const std::int64_t node : of.order) {
    const std::int64_t parent = of.parents[static_cast<std::size_t>(node)];
    if (parent < 0) continue;
    Cell& above = cells[static_cast<std::size_t>(parent)];
    above = Cell::of(above.integer() + cells[static_cast<std::size_t>(node)].integer());
  }
  return FaultKind::None;
}

FaultKind tree_mean(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  Value sums, counts;
  if (const FaultKind fault = tree_sum(arguments, sums, scratch); fault != FaultKind::None) return fault;
  if (const FaultKind fault = tree_count(arguments, counts, scratch); fault != FaultKind::None) return fault;
  const std::span<Cell> cells = make(result, sums.column.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != sums.column.size) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::int64_t count = counts.column.cells[i].integer();
    cells[i] = count > 0 ? Cell::of(sums.column.cells[i].real() / static_cast<double>(count)) : Cell::undefined();
  }
  return FaultKind::None;
}

FaultKind tree_max(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return upwards(arguments, result, scratch, [](auto cells, std::size_t node, std::size_t parent) {
    if (cells[node].defined == 0) return;
    const double own = cells[node].real();
    cells[parent] = Cell::of(cells[parent].defined != 0 ? math::max(cells[parent].real(), own) : own);
  });
}

// A node with children has the mean of theirs, whatever its own value; children without one are left out.
FaultKind tree_mean_of_means(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Column& column = arguments[0].column;
  if (column.size != arguments[1].column.size) return FaultKind::Domain;
  const Tree of = tree(arguments[1], scratch);
  if (of.fault != FaultKind::None) return of.fault;
  const auto size = static_cast<std::size_t>(column.size);
  const std::span<double> sums = take<double>(scratch, column.size);
  const std::span<std::int64_t> counts = take<std::int64_t>(scratch, column.size);
  const std::span<std::int64_t> children = take<std::int64_t>(scratch, column.size);
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (sums.size() != size || counts.size() != size || children.size() != size || cells.size() != size) {
    return FaultKind::OutOfMemory;
  }
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(counts.begin(), counts.end(), 0);
  std::fill(children.begin(), children.end(), 0);
  for (const std::int64_t node : of.order) {
    const auto i = static_cast<std::size_t>(node);
    const Cell& own = column.cells[i];
    if (children[i] > 0) {
      cells[i] = counts[i] > 0 ? Cell::of(sums[i] / static_cast<double>(counts[i])) : Cell::undefined();
    } else {
      cells[i] = own.defined != 0 ? Cell::of(real(own, arguments[0].base)) : Cell::undefined();
    }
    if (of.parents[i] < 0) continue;
    const auto parent = static_cast<std::size_t>(of.parents[i]);
    ++children[parent];
    if (cells[i].defined == 0) continue;
    sums[parent] += cells[i].real();
    ++counts[parent];
  }
  return FaultKind::None;
}

FaultKind tree_depth(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Tree of = tree(arguments[0], scratch);
  if (of.fault != FaultKind::None) return of.fault;
  const std::span<Cell> cells = make(result, arguments[0].column.size, scratch);
  if (cells.size() != of.depths.size()) return FaultKind::OutOfMemory;
  std::transform(of.depths.begin(), of.depths.end(), cells.begin(), [](std::int64_t depth) { return Cell::of(depth); });
  return FaultKind::None;
}

FaultKind tree_children(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Tree of = tree(arguments[0], scratch);
  if (of.fault != FaultKind::None) return of.fault;
  const std::span<Cell> cells = make(result, arguments[0].column.size, scratch);
  if (cells.size() != of.parents.size()) return FaultKind::OutOfMemory;
  std::fill(cells.begin(), cells.end(), Cell::of(std::int64_t{0}));
  for (const std::int64_t parent : of.parents) {
    if (parent < 0) continue;
    Cell& above = cells[static_cast<std::size_t>(parent)];
    above = Cell::of(above.integer() + 1);
  }
  return FaultKind::None;
}

}  // namespace allot::compiler::builtins
