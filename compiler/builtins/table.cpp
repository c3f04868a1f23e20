#include "compiler/builtins/table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/builtins/functions.h"

namespace allot::compiler {
namespace {

struct Entry {
  std::string_view name;
  Function function;
};

constexpr std::array entries{
    Entry{"abs", builtins::absolute},
    Entry{"min", builtins::minimum},
    Entry{"max", builtins::maximum},
    Entry{"clamp", builtins::clamp},
    Entry{"floor", builtins::floor},
    Entry{"ceil", builtins::ceil},
    Entry{"round_even", builtins::round_even},
    Entry{"sqrt", builtins::sqrt},
    Entry{"exp", builtins::exp},
    Entry{"log", builtins::log},
    Entry{"pow", builtins::pow},
    Entry{"tanh", builtins::tanh},
    Entry{"variance", builtins::variance},
    Entry{"std", builtins::deviation},
    Entry{"size", builtins::size},
    Entry{"top", builtins::top},
    Entry{"bottom", builtins::bottom},
    Entry{"argsort", builtins::argsort},
    Entry{"max_variance", builtins::max_variance},
    Entry{"dot", builtins::dot},
    Entry{"outer", builtins::outer},
    Entry{"matmul", builtins::matmul},
    Entry{"transpose", builtins::transpose},
    Entry{"beta", builtins::beta},
    Entry{"observe", builtins::observe},
    Entry{"beta_mean", builtins::beta_mean},
    Entry{"beta_variance", builtins::beta_variance},
    Entry{"beta_learnability", builtins::beta_learnability},
    Entry{"prob_mixed", builtins::prob_mixed},
    Entry{"hit_utility", builtins::hit_utility},
    Entry{"flat_prob", builtins::flat_prob},
    Entry{"any_prob", builtins::any_prob},
};

bool finite(const Value& value) noexcept {
  if (value.cell.defined == 0) return true;
  if (value.vector) {
    return value.base != lang::Base::Real ||
           std::all_of(value.column.cells, value.column.cells + value.column.size,
                       [](const Cell& cell) { return std::isfinite(cell.real()); });
  }
  if (value.base == lang::Base::Real) return std::isfinite(value.cell.real());
  return value.base != lang::Base::Beta || (std::isfinite(value.cell.real()) && std::isfinite(value.cell.second));
}

}  // namespace

Function implementation(std::string_view name) {
  const auto* const found = std::find_if(entries.begin(), entries.end(),
                                         [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : found->function;
}

std::vector<Function> implementations() {
  std::vector<Function> all;
  for (const lang::Builtin& row : lang::builtins()) all.push_back(implementation(row.name));
  return all;
}

FaultKind call(Function function, const Value* arguments, std::size_t count, Value& result, Scratch& scratch) noexcept {
  const bool defined = std::all_of(arguments, arguments + count, [](const Value& a) { return a.cell.defined != 0; });
  if (!defined) {
    result.cell = Cell::undefined();
    result.column = {};
    return FaultKind::None;
  }
  const FaultKind fault = function(arguments, result, scratch);
  if (fault != FaultKind::None) return fault;
  return finite(result) ? FaultKind::None : FaultKind::NotFinite;
}

Value fallback(const lang::Argument& argument) {
  Value value;
  const bool whole = argument.kind == lang::ArgumentKind::Int;
  value.base = whole ? lang::Base::Int : lang::Base::Real;
  value.cell = whole ? Cell::of(static_cast<std::int64_t>(argument.fallback)) : Cell::of(argument.fallback);
  return value;
}

}  // namespace allot::compiler
