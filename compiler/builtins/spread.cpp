#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/sum.h"

namespace allot::compiler::builtins {
namespace {

using Spread = std::optional<double> (*)(std::span<const double>, int) noexcept;

FaultKind spread(const Value* arguments, Value& result, Scratch& scratch, Spread compute) noexcept {
  const std::int64_t ddof = integer(arguments[1]);
  if (ddof != 0 && ddof != 1) return FaultKind::Domain;
  const Reals reals = defined_reals(arguments[0], scratch);
  if (!reals.ok) return FaultKind::OutOfMemory;
  const std::optional<double> value = compute(reals.values, static_cast<int>(ddof));
  return value ? give(result, *value) : give_undefined(result);
}

}  // namespace

FaultKind variance(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return spread(arguments, result, scratch, math::variance);
}

FaultKind deviation(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return spread(arguments, result, scratch, math::deviation);
}

FaultKind size(const Value* arguments, Value& result, Scratch&) noexcept {
  return give(result, arguments[0].column.size);
}

}  // namespace allot::compiler::builtins
