#include "lang/check/fold.h"

#include <cmath>

#include "lang/builtins.h"
#include "runtime/math/checked.h"

namespace allot::lang::checker {
namespace {

constexpr const char* too_large = "the result does not fit into 64 bits";
constexpr const char* by_zero = "division by zero";
constexpr const char* not_finite = "the result is not a finite number";

Folded of(const math::CheckedInt& result) {
  if (result.fault == math::IntFault::Overflow) return {std::nullopt, too_large};
  if (result.fault == math::IntFault::DivisionByZero) return {std::nullopt, by_zero};
  return {Cell::of(result.value), {}};
}

Folded of(double result) {
  if (!std::isfinite(result)) return {std::nullopt, not_finite};
  return {Cell::of(result), {}};
}

Folded of(bool result) {
  return {Cell::of(result), {}};
}

template <typename T>
Folded compared(Op op, T a, T b) {
  switch (op) {
    case Op::Less:
      return of(a < b);
    case Op::LessEqual:
      return of(a <= b);
    case Op::Greater:
      return of(a > b);
    case Op::GreaterEqual:
      return of(a >= b);
    case Op::Equal:
      return of(a == b);
    case Op::NotEqual:
      return of(a != b);
    default:
      return {};
  }
}

Folded integers(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::Add:
      return of(math::checked_add(a, b));
    case Op::Subtract:
      return of(math::checked_sub(a, b));
    case Op::Multiply:
      return of(math::checked_mul(a, b));
    case Op::Modulo:
      return of(math::checked_mod(a, b));
    default:
      return compared(op, a, b);
  }
}

Folded reals(Op op, double a, double b) {
  switch (op) {
    case Op::Add:
      return of(a + b);
    case Op::Subtract:
      return of(a - b);
    case Op::Multiply:
      return of(a * b);
    case Op::Divide:
      return b == 0 ? Folded{std::nullopt, by_zero} : of(a / b);
    case Op::Modulo:
      return b == 0 ? Folded{std::nullopt, by_zero} : of(std::fmod(a, b));
    default:
      return compared(op, a, b);
  }
}

// The few functions that appear in defaults, and those that fault on literals.
Folded call(std::string_view name, const std::vector<Cell>& values, const std::vector<Type>& types) {
  if (name == "beta") {
    const double a = values[0].real();
    const double b = values[1].real();
    if (!(a > 0) || !(b > 0)) return {std::nullopt, "a beta needs two parameters above 0"};
    return {Cell::beta(a, b), {}};
  }
  if (name == "abs" && types[0].base == Base::Int) return of(math::checked_abs(values[0].integer()));
  if (name == "sqrt" && values[0].real() < 0) return {std::nullopt, "the square root of a negative number"};
  if (name == "log" && values[0].real() <= 0) return {std::nullopt, "the logarithm of a number that is not above 0"};
  if (name == "clamp") {
    const bool crossed =
        types[0].base == Base::Int ? values[1].integer() > values[2].integer() : values[1].real() > values[2].real();
    if (crossed) return {std::nullopt, "the low bound lies above the high one"};
  }
  return {};
}

}  // namespace

Folded fold(const Node& node, const std::vector<Cell>& values, const std::vector<Type>& types) {
  for (const Cell& value : values) {
    if (value.defined == 0) return {};
  }
  switch (node.op) {
    case Op::Constant:
      return {node.cell, {}};
    case Op::Not:
      return of(!values[0].truth());
    case Op::Negate:
      if (types[0].base == Base::Int) return of(math::checked_neg(values[0].integer()));
      return of(-values[0].real());
    case Op::ToReal:
      return of(static_cast<double>(values[0].integer()));
    case Op::And:
      return of(values[0].truth() && values[1].truth());
    case Op::Or:
      return of(values[0].truth() || values[1].truth());
    case Op::Call:
      return call(builtins()[static_cast<std::size_t>(node.index)].name, values, types);
    default:
      break;
  }
  if (values.size() != 2) return {};
  if (types[0].base == Base::Real) return reals(node.op, values[0].real(), values[1].real());
  if (types[0].base == Base::Int || types[0].base == Base::Bool) {
    return integers(node.op, values[0].integer(), values[1].integer());
  }
  return {};
}

}  // namespace allot::lang::checker
