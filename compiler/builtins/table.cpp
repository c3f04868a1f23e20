#include "compiler/builtins/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

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
    Entry{"within", builtins::within},
    Entry{"floor", builtins::floor},
    Entry{"ceil", builtins::ceil},
    Entry{"round_even", builtins::round_even},
    Entry{"sqrt", builtins::sqrt},
    Entry{"exp", builtins::exp},
    Entry{"log", builtins::log},
    Entry{"pow", builtins::pow},
    Entry{"detach", builtins::detach},
    Entry{"tanh", builtins::tanh},
    Entry{"variance", builtins::variance},
    Entry{"std", builtins::deviation},
    Entry{"size", builtins::size},
    Entry{"top", builtins::top},
    Entry{"bottom", builtins::bottom},
    Entry{"argsort", builtins::argsort},
    Entry{lang::places_of_group, builtins::places_of_group},
    Entry{"max_variance", builtins::max_variance},
    Entry{"dot", builtins::dot},
    Entry{"outer", builtins::outer},
    Entry{"matmul", builtins::matmul},
    Entry{"transpose", builtins::transpose},
    Entry{"rank", builtins::rank},
    Entry{"quantile", builtins::quantile},
    Entry{"median", builtins::median},
    Entry{"normalized", builtins::normalized},
    Entry{"prefix_sum", builtins::prefix_sum},
    Entry{"discounted", builtins::discounted},
    Entry{"discounted_by", builtins::discounted_by},
    Entry{"pick", builtins::pick},
    Entry{"softmax", builtins::softmax},
    Entry{"log_sum_exp", builtins::log_sum_exp},
    Entry{"sum_by", builtins::sum_by},
    Entry{"mean_by", builtins::mean_by},
    Entry{"std_by", builtins::std_by},
    Entry{"count_by", builtins::count_by},
    Entry{"distinct", builtins::distinct},
    Entry{"tree_sum", builtins::tree_sum},
    Entry{"tree_count", builtins::tree_count},
    Entry{"tree_mean", builtins::tree_mean},
    Entry{"tree_mean_of_means", builtins::tree_mean_of_means},
    Entry{"tree_max", builtins::tree_max},
    Entry{"tree_depth", builtins::tree_depth},
    Entry{"tree_children", builtins::tree_children},
    Entry{"gram", builtins::gram},
    Entry{"cosine_gram", builtins::cosine_gram},
    Entry{"diagonal", builtins::diagonal},
    Entry{"ridge", builtins::ridge},
    Entry{"participation_ratio", builtins::participation_ratio},
    Entry{"effective_count", builtins::effective_count},
    Entry{"eigenvalues", builtins::eigenvalues},
    Entry{"eigenvectors", builtins::eigenvectors},
    Entry{"eigengap", builtins::eigengap},
    Entry{"top_eigenspace", builtins::top_eigenspace},
    Entry{"project", builtins::project},
    Entry{"reject", builtins::reject},
    Entry{"log_det", builtins::log_det},
    Entry{"inverse_diagonal", builtins::inverse_diagonal},
    Entry{"log_det_shares", builtins::log_det_shares},
    Entry{"beta_sd", builtins::beta_sd},
    Entry{"beta_cdf", builtins::beta_cdf},
    Entry{"beta_quantile", builtins::beta_quantile},
    Entry{"binomial_pmf", builtins::binomial_pmf},
    Entry{"binomial_cdf", builtins::binomial_cdf},
    Entry{"pass_at_k", builtins::pass_at_k},
    Entry{"student_t_cdf", builtins::student_t_cdf},
    Entry{"student_t_quantile", builtins::student_t_quantile},
    Entry{"normal_cdf", builtins::normal_cdf},
    Entry{"normal_quantile", builtins::normal_quantile},
    Entry{"weights_entropy", builtins::weights_entropy},
    Entry{"bernoulli_entropy", builtins::bernoulli_entropy},
    Entry{"bernoulli_kl", builtins::bernoulli_kl},
    Entry{"geometric_sum", builtins::geometric_sum},
    Entry{"sprt_ratio", builtins::sprt_ratio},
    Entry{"sprt_upper", builtins::sprt_upper},
    Entry{"sprt_lower", builtins::sprt_lower},
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

std::span<const Function> implementations() {
  static const std::vector<Function> all = [] {
    std::vector<Function> made;
    for (const lang::Builtin& row : lang::builtins()) made.push_back(implementation(row.name));
    return made;
  }();
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
  switch (argument.kind) {
    case lang::ArgumentKind::Int:
      value.base = lang::Base::Int;
      value.cell = Cell::of(static_cast<std::int64_t>(argument.fallback));
      break;
    case lang::ArgumentKind::Bool:
      value.base = lang::Base::Bool;
      value.cell = Cell::of(argument.fallback != 0);
      break;
    default: value.cell = Cell::of(argument.fallback);
  }
  return value;
}

}  // namespace allot::compiler
