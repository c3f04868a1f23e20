#include <algorithm>
#include <cmath>

#include "compiler/builtins/read.h"
#include "compiler/evaluate/walk.h"
#include "runtime/math/checked.h"
#include "runtime/math/round.h"
#include "runtime/math/sum.h"

namespace allot::compiler {

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Reduction;

namespace {

double as_real(const Value& value) noexcept {
  return value.base == Base::Real ? value.cell.real() : static_cast<double>(value.cell.integer());
}

// What a reduction has so far. Sums start at 0, the smallest and largest are undefined until there is one.
Cell start(Reduction reduction, Base base) noexcept {
  switch (reduction) {
    case Reduction::Sum: return base == Base::Real ? Cell::of(0.0) : Cell::of(std::int64_t{0});
    case Reduction::Count: return Cell::of(std::int64_t{0});
    case Reduction::Any: return Cell::of(false);
    case Reduction::All: return Cell::of(true);
    default: return Cell::undefined();
  }
}

FaultKind add(Cell& total, const Value& value) noexcept {
  if (value.base == Base::Real) {
    const double sum = total.real() + value.cell.real();
    total = Cell::of(sum);
    return std::isfinite(sum) ? FaultKind::None : FaultKind::NotFinite;
  }
  const math::CheckedInt sum = math::checked_add(total.integer(), value.cell.integer());
  total = Cell::of(sum.value);
  return sum ? FaultKind::None : FaultKind::IntegerOverflow;
}

void keep_extreme(Cell& kept, const Value& value, bool smallest) noexcept {
  if (kept.defined == 0) {
    kept = value.cell;
  } else if (value.base == Base::Real) {
    kept = Cell::of(smallest ? math::min(kept.real(), value.cell.real()) : math::max(kept.real(), value.cell.real()));
  } else {
    kept = Cell::of(smallest ? std::min(kept.integer(), value.cell.integer())
                             : std::max(kept.integer(), value.cell.integer()));
  }
}

FaultKind take_in(Reduction reduction, Cell& kept, const Value& value) noexcept {
  switch (reduction) {
    case Reduction::Sum: return add(kept, value);
    case Reduction::Count:
      if (value.base != Base::Bool || value.cell.truth()) kept = Cell::of(kept.integer() + 1);
      return FaultKind::None;
    case Reduction::Any:
    case Reduction::All: kept = value.cell; return FaultKind::None;
    default: keep_extreme(kept, value, reduction == Reduction::Min); return FaultKind::None;
  }
}

// `any` and `all` look no further once they know.
bool known(Reduction reduction, const Cell& kept) noexcept {
  return (reduction == Reduction::Any && kept.truth()) || (reduction == Reduction::All && !kept.truth());
}

}  // namespace

bool Walk::enter(std::int32_t loop, std::int64_t& size) noexcept {
  const lang::Loop& of = handler_.loops[static_cast<std::size_t>(loop)];
  if (of.source < 0) {
    size = frame_.scope_sizes[static_cast<std::size_t>(of.scope)];
    return true;
  }
  Value source;
  if (!value(of.source, source)) return false;
  if (source.cell.defined == 0) source.column = {};  // no vector: nothing to walk
  cursor(loop).source = source.column;
  size = source.column.size;
  return true;
}

bool Walk::passes(const Node& node, bool& holds) noexcept {
  holds = true;
  if (node.args.size() < 2) return true;
  Value where;
  if (!value(node.args[1], where)) return false;
  holds = where.cell.defined != 0 && where.cell.truth();
  return true;
}

bool Walk::reduce(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  const auto reduction = static_cast<Reduction>(self.index);
  if (reduction == Reduction::Mean) return mean(id, out);
  std::int64_t size = 0;
  if (!enter(self.loop, size)) return false;
  Cell kept = start(reduction, node(self.args[0]).type.base);
  for (std::int64_t i = 0; i < size && !known(reduction, kept); ++i) {
    move(self.loop, i);
    bool holds = true;
    if (!passes(self, holds)) return false;
    if (!holds) continue;
    Value body;
    if (!value(self.args[0], body)) return false;
    if (body.cell.defined == 0) continue;
    const FaultKind fault = take_in(reduction, kept, body);
    if (fault != FaultKind::None) return fail(fault, id);
  }
  out.cell = kept;
  return true;
}

// The mean of math/sum.h over the defined values, so that equal values have their own value as mean.
bool Walk::mean(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  std::int64_t size = 0;
  if (!enter(self.loop, size)) return false;
  const std::span<double> values = builtins::take<double>(*frame_.scratch, size);
  if (values.empty() && size > 0) return fail(FaultKind::OutOfMemory, id);
  std::size_t count = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    move(self.loop, i);
    bool holds = true;
    if (!passes(self, holds)) return false;
    if (!holds) continue;
    Value body;
    if (!value(self.args[0], body)) return false;
    if (body.cell.defined != 0) values[count++] = as_real(body);
  }
  const std::optional<double> mean = math::mean(values.first(count));
  out.cell = mean ? Cell::of(*mean) : Cell::undefined();
  return !mean || std::isfinite(*mean) || fail(FaultKind::NotFinite, id);
}

// Undefined values keep their place; `where` leaves elements out.
bool Walk::map(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  std::int64_t size = 0;
  if (!enter(self.loop, size)) return false;
  Cell* const cells = frame_.scratch->take(size);
  if (cells == nullptr) return fail(FaultKind::OutOfMemory, id);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    move(self.loop, i);
    bool holds = true;
    if (!passes(self, holds)) return false;
    if (!holds) continue;
    Value body;
    if (!value(self.args[0], body)) return false;
    cells[count++] = body.cell;
  }
  out.cell = Cell{};
  out.column = {cells, count, self.type.matrix() ? cursor(self.loop).source.width : 1};
  return true;
}

bool Walk::list(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  const auto size = static_cast<std::int64_t>(self.args.size());
  Cell* const cells = frame_.scratch->take(size);
  if (cells == nullptr) return fail(FaultKind::OutOfMemory, id);
  for (std::int64_t i = 0; i < size; ++i) {
    Value item;
    if (!value(self.args[static_cast<std::size_t>(i)], item)) return false;
    cells[i] = item.cell;
  }
  out.cell = Cell{};
  out.column = {cells, size, self.type.matrix() ? self.type.columns : 1};
  return true;
}

}  // namespace allot::compiler
