// Calls: what is called, and which argument is which. What a built-in makes of them: table_calls.cpp. Functions of the
// file: inline.cpp.
#include <algorithm>
#include <utility>

#include "lang/check/expressions.h"
#include "lang/check/declarations.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

namespace {

std::string signature(std::string_view name, const std::vector<std::string>& names) {
  std::string text(name);
  text += '(';
  for (std::size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
  return text + ")";
}

// What a function of other languages is called here; empty where nothing is.
std::string_view function_elsewhere(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"len", "count"}, {"length", "count"}, {"avg", "mean"},      {"average", "mean"},     {"var", "variance"},
      {"ln", "log"},    {"stdev", "std"},    {"stddev", "std"},    {"round", "round_even"}, {"power", "pow"},
      {"ceiling", "ceil"}, {"minimum", "min"}, {"maximum", "max"}};
  for (const auto& [other, own] : names) {
    if (other == name) return own;
  }
  return {};
}

}  // namespace

NodeId Expressions::call(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (const auto it = policy_.names.functions.find(e.text); it != policy_.names.functions.end()) {
    return inline_function(it->second, id);
  }
  if (is_statistic(e.text)) return statistic(id);
  if (e.text == "draw") return draw(id);
  if (e.text == "where") return where(id);
  if (e.text == "elementwise") return elementwise(id);
  const std::optional<Reduction> reduction = reduction_named(e.text);
  if (reduction && e.args.size() == 1) return reduce_one(*reduction, id);
  const bool of_many = e.args.size() > 2 && (e.text == "min" || e.text == "max");
  if (reduction && e.args.size() != 2 && !of_many) {
    policy_.error("E0110", e.span, quoted(e.text) + " takes one vector");
    return poison;
  }
  const int index = find_builtin(e.text);
  if (index < 0 && reduction) {
    policy_.error("E0110", e.span, quoted(e.text) + " takes one vector", "",
                  "put the values into a list: `" + e.text + "([…])`");
    return poison;
  }
  if (index < 0) return unknown_function(id);
  return of_many ? extremes(index, id) : builtin(index, id);
}

// `sum(v)` and `sum(x for …)`.
NodeId Expressions::reduce_one(Reduction reduction, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (expr(e.args[0]).kind == tree::ExprKind::Comprehension) return comprehension(e.args[0], reduction);
  const NodeId node = check(e.args[0]);
  if (node == poison) return poison;
  if (type(node).vector()) {
    return require_defined(node, e.args[0], tree::none) ? reduce_vector(reduction, node, e.span) : poison;
  }
  policy_.error("E0221", expr(e.args[0]).span, quoted(e.text) + " needs a vector", "this is one value",
                "for example `" + e.text + "(g.rewards)` or `" + e.text + "(r.tokens for r in g.rollouts)`");
  return poison;
}

// Says so, unless its file or its name could not be read: that is said already.
NodeId Expressions::unknown_function(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const std::string file = e.text.substr(0, e.text.find('.'));  // a function of a file that is not there
  const Binding* const whole = policy_.names.find(e.text);  // one that could not be read there
  const Binding* const value = whole ? whole : policy_.names.find(file);
  // Of a file that another one uses, whose functions see no names of this one.
  const bool elsewhere = std::any_of(policy_.tree.unread.begin(), policy_.tree.unread.end(),
                                     [&](const std::string& name) { return e.text.starts_with(name + "."); });
  if (elsewhere || (value && value->meaning == Meaning::Poison)) {
    for (const tree::ExprId arg : e.args) check(arg);
    return poison;
  }
  if (value && file == e.text) {
    policy_.error("E0106", e.span, quoted(e.text) + " is a " + value->kind + ", not a function", "", "",
                  {{value->span, "declared here"}});
    return poison;
  }
  std::vector<std::string> names{"draw", "where", "elementwise", "sum", "count", "mean", "any", "all"};
  for (const auto& [name, function] : policy_.names.functions) names.push_back(name);
  for (const Builtin& row : builtins()) {
    if (!row.hidden) names.emplace_back(row.name);
  }
  for (const std::string_view name : {"mean_pairwise", "min_pairwise", "max_pairwise", "unique_ratio", "agreement",
                                      "entropy", "finished_fraction", "repetition", "loop"}) {
    names.emplace_back(name);
  }
  Span span = policy_.inside(e.span);
  span.end = span.begin + static_cast<std::uint32_t>(e.text.size());
  const std::string_view other = function_elsewhere(e.text);
  policy_.error("E0106", span, "there is no function " + quoted(e.text), "",
                other.empty() ? near_help(e.text, names) : "it is called " + quoted(other) + " here");
  return poison;
}

// The arguments in the order of `names`; tree::none for one that is left out. Nothing after an error.
std::optional<std::vector<tree::ExprId>> Expressions::arrange(const tree::Expr& call,
                                                              const std::vector<std::string>& names,
                                                              const std::vector<char>& optional) {
  std::vector<tree::ExprId> result(names.size(), tree::none);
  const std::string form = signature(call.text, names);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const std::string label = i < call.labels.size() ? call.labels[i] : std::string();
    std::size_t position = i;
    if (!label.empty()) {
      const auto it = std::find(names.begin(), names.end(), label);
      if (it == names.end()) {
        const std::string near = near_help(label, names);
        policy_.error("E0110", expr(call.args[i]).span, quoted(call.text) + " has no argument " + quoted(label), "",
                      near.empty() ? "it is called as `" + form + "`" : near);
        return std::nullopt;
      }
      position = static_cast<std::size_t>(it - names.begin());
    }
    if (position >= names.size()) {
      policy_.error("E0110", expr(call.args[i]).span, "too many arguments for " + quoted(call.text),
                    "at most " + std::to_string(names.size()), "it is called as `" + form + "`");
      return std::nullopt;
    }
    if (result[position] != tree::none) {
      policy_.error("E0110", expr(call.args[i]).span, "argument " + quoted(names[position]) + " is given twice");
      return std::nullopt;
    }
    result[position] = call.args[i];
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (result[i] != tree::none || (i < optional.size() && optional[i])) continue;
    policy_.error("E0110", call.span, quoted(call.text) + " needs " + quoted(names[i]), "argument left out",
                  "it is called as `" + form + "`");
    return std::nullopt;
  }
  return result;
}

NodeId Expressions::builtin(int index, tree::ExprId id) {
  const Builtin& row = builtins()[static_cast<std::size_t>(index)];
  std::vector<std::string> names;
  std::vector<char> left_out;
  for (const Argument& argument : row.arguments) {
    names.emplace_back(argument.name);
    left_out.push_back(argument.optional ? 1 : 0);
  }
  const std::optional<std::vector<tree::ExprId>> ids = arrange(expr(id), names, left_out);
  std::vector<NodeId> nodes;
  if (!ids) {
    for (const tree::ExprId arg : expr(id).args) check(arg);  // their own mistakes, and that names are used
    return poison;
  }
  bool poisoned = false;
  for (std::size_t i = 0; i < ids->size(); ++i) {
    if ((*ids)[i] != tree::none) {
      nodes.push_back(check((*ids)[i]));
    } else {
      const ArgumentKind kind = row.arguments[i].kind;
      const double value = row.arguments[i].fallback;
      const Base base = kind == ArgumentKind::Int    ? Base::Int
                        : kind == ArgumentKind::Bool ? Base::Bool
                                                     : Base::Real;
      const Cell cell = base == Base::Int    ? Cell::of(static_cast<std::int64_t>(value))
                        : base == Base::Bool ? Cell::of(value != 0)
                                             : Cell::of(value);
      nodes.push_back(builder_.constant(cell, plain(base), expr(id).span));
    }
    poisoned = poisoned || nodes.back() == poison;
  }
  return poisoned ? poison : apply(index, std::move(nodes), *ids, expr(id).span);
}

NodeId Expressions::extremes(int index, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  NodeId result = check(e.args[0]);
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    const NodeId next = check(e.args[i]);
    if (result == poison || next == poison) {
      result = poison;
      continue;
    }
    result = apply(index, {result, next}, {e.args[i - 1], e.args[i]}, e.span);
  }
  return result;
}
}  // namespace allot::lang::checker
