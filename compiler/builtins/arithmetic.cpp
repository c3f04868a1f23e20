#include <algorithm>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/round.h"

namespace allot::compiler::builtins {
namespace {

using lang::Base;

FaultKind whole(const Value& argument, Value& result, double (*round)(double) noexcept) noexcept {
  if (argument.base != Base::Real) {
    result.cell = result.base == Base::Real ? Cell::of(real(argument)) : argument.cell;
    return FaultKind::None;
  }
  const double rounded = round(argument.cell.real());
  return result.base == Base::Real ? give(result, rounded) : give(result, math::checked_int(rounded));
}

}  // namespace

FaultKind absolute(const Value* arguments, Value& result, Scratch&) noexcept {
  if (arguments[0].base == Base::Real) return give(result, math::abs(real(arguments[0])));
  return give(result, math::checked_abs(integer(arguments[0])));
}

FaultKind minimum(const Value* arguments, Value& result, Scratch&) noexcept {
  if (result.base == Base::Real) return give(result, math::min(real(arguments[0]), real(arguments[1])));
  return give(result, std::min(integer(arguments[0]), integer(arguments[1])));
}

FaultKind maximum(const Value* arguments, Value& result, Scratch&) noexcept {
  if (result.base == Base::Real) return give(result, math::max(real(arguments[0]), real(arguments[1])));
  return give(result, std::max(integer(arguments[0]), integer(arguments[1])));
}

FaultKind clamp(const Value* arguments, Value& result, Scratch&) noexcept {
  const Value& x = arguments[0];
  const Value& low = arguments[1];
  const Value& high = arguments[2];
  if (result.base == Base::Real) {
    if (real(low) > real(high)) return FaultKind::Domain;
    return give(result, math::clamp(real(x), real(low), real(high)));
  }
  if (integer(low) > integer(high)) return FaultKind::Domain;
  return give(result, std::clamp(integer(x), integer(low), integer(high)));
}

FaultKind within(const Value* arguments, Value& result, Scratch&) noexcept {
  const Value& x = arguments[0];
  const Value& low = arguments[1];
  const Value& high = arguments[2];
  if (result.base == Base::Real) {
    const bool inside = real(x) >= real(low) && real(x) <= real(high);
    return inside ? give(result, real(x)) : FaultKind::Domain;
  }
  const bool inside = integer(x) >= integer(low) && integer(x) <= integer(high);
  return inside ? give(result, integer(x)) : FaultKind::Domain;
}

FaultKind floor(const Value* arguments, Value& result, Scratch&) noexcept {
  return whole(arguments[0], result, math::floor);
}

FaultKind ceil(const Value* arguments, Value& result, Scratch&) noexcept {
  return whole(arguments[0], result, math::ceil);
}

FaultKind round_even(const Value* arguments, Value& result, Scratch&) noexcept {
  return whole(arguments[0], result, math::round_even);
}

}  // namespace allot::compiler::builtins
