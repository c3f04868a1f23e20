#include <algorithm>

#include "compiler/evaluate/walk.h"

namespace allot::compiler {

using lang::Node;
using lang::NodeId;
using lang::Op;

bool Walk::fail(FaultKind fault, NodeId id) noexcept {
  fault_ = fault;
  fault_node_ = id;
  return false;
}

void Walk::forget(std::span<const std::int32_t> lets) noexcept {
  for (const std::int32_t let : lets) workspace_.memos[static_cast<std::size_t>(let)].serial = 0;
}

bool Walk::load(NodeId id, const Cell& cell, Value& out) noexcept {
  if (cell.defined == 0 && !node(id).type.optional) return fail(FaultKind::Domain, id);
  out.cell = cell;
  return true;
}

bool Walk::element(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  const Cursor& at = cursor(self.loop);
  const Column& column = self.index < 0 ? at.source : frame_.columns[self.index];
  if (at.position >= column.size) return fail(FaultKind::IndexOutOfRange, id);
  return load(id, column.cells[at.position], out);
}

bool Walk::state(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  std::int64_t position = 0;
  if (!self.args.empty()) {
    Value key;
    if (!value(self.args[0], key)) return false;
    if (key.cell.defined == 0) {
      out.cell = Cell::undefined();
      return true;
    }
    position = key.cell.integer();
  }
  const StateView& view = frame_.states[self.index];
  if (position < 0 || position >= view.size) return fail(FaultKind::IndexOutOfRange, id);
  if (!self.type.vector()) return load(id, view.before[position], out);
  // A copy: at a barrier what is remembered later must not change what was read.
  const std::int64_t size = self.type.cells();
  Cell* const cells = frame_.scratch->take(size);
  if (cells == nullptr) return fail(FaultKind::OutOfMemory, id);
  std::copy_n(view.before + position * size, size, cells);
  out.cell = Cell{};
  out.column = {cells, size, self.type.matrix() ? self.type.columns : 1};
  return true;
}

bool Walk::at(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  Value vector, row, column;
  if (!both(self, vector, row)) return false;
  const bool matrix = self.args.size() > 2;
  if (matrix && !value(self.args[2], column)) return false;
  if (vector.cell.defined == 0 || row.cell.defined == 0 || (matrix && column.cell.defined == 0)) {
    out.cell = Cell::undefined();
    return true;
  }
  const std::int64_t width = matrix ? vector.column.width : 1;
  const std::int64_t i = row.cell.integer();
  const std::int64_t j = matrix ? column.cell.integer() : 0;
  if (i < 0 || i >= vector.column.size / width || j < 0 || j >= width) return fail(FaultKind::IndexOutOfRange, id);
  return load(id, vector.column.cells[i * width + j], out);
}

bool Walk::align(NodeId id, Value& out) noexcept {
  Value other;
  if (!both(node(id), out, other)) return false;
  if (out.cell.defined != 0 && other.cell.defined != 0) {
    const bool alike = out.column.size == other.column.size && out.column.width == other.column.width;
    return alike || fail(FaultKind::Domain, id);
  }
  out.cell = Cell::undefined();
  out.column = {};
  return true;
}

bool Walk::value(NodeId id, Value& out) noexcept {
  if (stack_here() < floor_) return fail(FaultKind::OutOfMemory, id);
  const Node& self = node(id);
  out.base = self.type.base;
  out.vector = self.type.vector();
  switch (self.op) {
    case Op::Constant:
      out.cell = self.cell;
      if (out.vector) out.column = {};
      return true;
    case Op::Parameter: out.cell = frame_.parameters[self.index]; return true;
    case Op::Read: return load(id, frame_.reads[self.index], out);
    case Op::Column:
      out.cell = Cell{};
      out.column = frame_.columns[self.index];
      return true;
    case Op::Element: return element(id, out);
    case Op::Position: out.cell = Cell::of(cursor(self.loop).position); return true;
    case Op::State: return state(id, out);
    case Op::Let: return let(id, out);
    case Op::Scope: forget(self.owned); return value(self.args[0], out);
    case Op::Not: case Op::Negate: case Op::ToReal: case Op::IsUndefined: return unary(id, out);
    case Op::Add: case Op::Subtract: case Op::Multiply: case Op::Divide: case Op::Modulo: return arithmetic(id, out);
    case Op::Less: case Op::LessEqual: case Op::Greater: case Op::GreaterEqual: case Op::Equal: case Op::NotEqual:
      return comparison(id, out);
    case Op::And: case Op::Or: return logical(id, out);
    case Op::If: return choose(id, out);
    case Op::Coalesce: return coalesce(id, out);
    case Op::Assume: return assume(id, out);
    case Op::Call: return call(id, out);
    case Op::Reduce: return reduce(id, out);
    case Op::Allot: return allot(id, out);
    case Op::Map: return map(id, out);
    case Op::ListOf: return list(id, out);
    case Op::At: return at(id, out);
    case Op::Align: return align(id, out);
  }
  return fail(FaultKind::Domain, id);
}

}  // namespace allot::compiler
