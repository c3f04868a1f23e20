#include "runtime/math/elementary.h"

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/round.h"

namespace allot::compiler::builtins {

FaultKind sqrt(const Value* arguments, Value& result, Scratch&) noexcept {
  const double x = real(arguments[0]);
  return x < 0 ? FaultKind::Domain : give(result, math::sqrt(x));
}

FaultKind exp(const Value* arguments, Value& result, Scratch&) noexcept {
  return give(result, math::exp(real(arguments[0])));
}

FaultKind log(const Value* arguments, Value& result, Scratch&) noexcept {
  const double x = real(arguments[0]);
  return x <= 0 ? FaultKind::Domain : give(result, math::log(x));
}

FaultKind detach(const Value* arguments, Value& result, Scratch&) noexcept {
  return give(result, real(arguments[0]));
}

FaultKind tanh(const Value* arguments, Value& result, Scratch&) noexcept {
  return give(result, math::tanh(real(arguments[0])));
}

FaultKind pow(const Value* arguments, Value& result, Scratch&) noexcept {
  const double base = real(arguments[0]);
  const double exponent = real(arguments[1]);
  if (base == 0 && exponent < 0) return FaultKind::Domain;
  if (base < 0 && math::floor(exponent) != exponent) return FaultKind::Domain;
  return give(result, math::pow(base, exponent));
}

}  // namespace allot::compiler::builtins
