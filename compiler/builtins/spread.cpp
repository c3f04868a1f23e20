#include <cmath>

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

FaultKind normalized(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const std::int64_t ddof = integer(arguments[1]);
  const double eps = real(arguments[2]);
  if ((ddof != 0 && ddof != 1) || eps < 0) return FaultKind::Domain;
  const Column& column = arguments[0].column;
  const Reals reals = defined_reals(arguments[0], scratch);
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (!reals.ok || static_cast<std::int64_t>(cells.size()) != column.size) return FaultKind::OutOfMemory;
  const double centre = math::mean(reals.values).value_or(0);
  const double spread = math::deviation(reals.values, static_cast<int>(ddof)).value_or(0);
  if (!std::isfinite(centre) || !std::isfinite(spread)) return FaultKind::NotFinite;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& own = column.cells[i];
    const double distance = own.defined != 0 ? real(own, arguments[0].base) - centre : 0;
    cells[i] = own.defined == 0 ? Cell::undefined() : Cell::of(distance == 0 ? 0.0 : distance / (spread + eps));
  }
  return FaultKind::None;
}

FaultKind size(const Value* arguments, Value& result, Scratch&) noexcept {
  return give(result, arguments[0].column.size);
}

}  // namespace allot::compiler::builtins
