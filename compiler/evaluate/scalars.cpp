#include <cmath>

#include "compiler/evaluate/walk.h"
#include "runtime/math/checked.h"

namespace allot::compiler {

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Op;

namespace {

math::CheckedInt whole(Op op, std::int64_t a, std::int64_t b) noexcept {
  switch (op) {
    case Op::Add: return math::checked_add(a, b);
    case Op::Subtract: return math::checked_sub(a, b);
    case Op::Multiply: return math::checked_mul(a, b);
    default: return math::checked_mod(a, b);
  }
}

double real(Op op, double a, double b) noexcept {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Subtract: return a - b;
    case Op::Multiply: return a * b;
    case Op::Divide: return a / b;
    default: return std::fmod(a, b);  // exact, so the same everywhere
  }
}

FaultKind kind(math::IntFault fault) noexcept {
  return fault == math::IntFault::Overflow ? FaultKind::IntegerOverflow : FaultKind::DivisionByZero;
}

double to_real(const Value& value) noexcept {
  return value.base == Base::Real ? value.cell.real() : static_cast<double>(value.cell.integer());
}

template <typename T>
bool compare(Op op, T a, T b) noexcept {
  switch (op) {
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    case Op::Greater: return a > b;
    case Op::GreaterEqual: return a >= b;
    case Op::Equal: return a == b;
    default: return a != b;
  }
}

}  // namespace

bool Walk::both(const Node& node, Value& left, Value& right) noexcept {
  return value(node.args[0], left) && value(node.args[1], right);
}

bool Walk::unary(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  Value of;
  if (!value(self.args[0], of)) return false;
  if (self.op == Op::IsUndefined) {
    out.cell = Cell::of(of.cell.defined == 0);
    return true;
  }
  if (of.cell.defined == 0) {
    out.cell = Cell::undefined();
    return true;
  }
  if (self.op == Op::Not) {
    out.cell = Cell::of(!of.cell.truth());
  } else if (self.op == Op::ToReal) {
    out.cell = Cell::of(to_real(of));
  } else if (self.type.base == Base::Real) {
    out.cell = Cell::of(-of.cell.real());
  } else {
    const math::CheckedInt negated = math::checked_neg(of.cell.integer());
    if (!negated) return fail(FaultKind::IntegerOverflow, id);
    out.cell = Cell::of(negated.value);
  }
  return true;
}

bool Walk::arithmetic(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  Value left, right;
  if (!both(self, left, right)) return false;
  if (left.cell.defined == 0 || right.cell.defined == 0) {
    out.cell = Cell::undefined();
    return true;
  }
  if (self.type.base != Base::Real) {
    const math::CheckedInt result = whole(self.op, left.cell.integer(), right.cell.integer());
    if (!result) return fail(kind(result.fault), id);
    out.cell = Cell::of(result.value);
    return true;
  }
  const double a = to_real(left);
  const double b = to_real(right);
  if ((self.op == Op::Divide || self.op == Op::Modulo) && b == 0) return fail(FaultKind::DivisionByZero, id);
  const double result = real(self.op, a, b);
  if (!std::isfinite(result)) return fail(FaultKind::NotFinite, id);
  out.cell = Cell::of(result);
  return true;
}

bool Walk::comparison(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  Value left, right;
  if (!both(self, left, right)) return false;
  if (left.cell.defined == 0 || right.cell.defined == 0) {
    out.cell = Cell::undefined();
  } else if (left.base == Base::Real || right.base == Base::Real) {
    out.cell = Cell::of(compare(self.op, to_real(left), to_real(right)));
  } else {
    out.cell = Cell::of(compare(self.op, left.cell.integer(), right.cell.integer()));
  }
  return true;
}

}  // namespace allot::compiler
