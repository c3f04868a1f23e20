// Calls: built-ins by their table, and reductions. Functions of the file: inline.cpp.
#include <algorithm>
#include <utility>

#include "lang/check/expressions.h"
#include "lang/check/declarations.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

namespace {

bool takes_vector(ArgumentKind kind) {
  return kind == ArgumentKind::IntVector || kind == ArgumentKind::RealVector || kind == ArgumentKind::BoolVector ||
         kind == ArgumentKind::AnyVector || kind == ArgumentKind::Matrix || kind == ArgumentKind::Reals;
}

// A vector over what the rows of `like` run over.
Type along(Type element, const Type& like) {
  Type rows = like;
  rows.across = Scope::Single;
  rows.columns = 0;
  return shaped(element, rows);
}

Type matrix_over(const Type& rows, const Type& columns) {
  Type result = along(plain(Base::Real), rows);
  result.across = columns.scope;
  result.columns = columns.rows;
  return result;
}

Type columns_of(const Type& matrix) {
  Type result = vector_of(plain(Base::Real), matrix.across);
  result.rows = matrix.columns;
  return result;
}

// The shape of what a row of the table gives, from those of its vector arguments.
Type shape_of_result(ResultKind kind, const std::vector<Type>& vectors) {
  const Type& first = vectors.front();
  const Type& last = vectors.back();
  const Type real = plain(Base::Real);
  switch (kind) {
    case ResultKind::IntsAlong:
      return along(plain(Base::Int), first);
    case ResultKind::RealsAlong:
      return along(real, first);
    case ResultKind::Same:
      return shaped(real, last);
    case ResultKind::Transposed:
      return matrix_over(columns_of(first), first);
    case ResultKind::Square:
    case ResultKind::Outer:
      return matrix_over(first, last);
    case ResultKind::Product:
      return last.matrix() ? matrix_over(first, columns_of(last)) : along(real, first);
    default:
      return vector_of(real, Scope::List);
  }
}

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
  if (const std::optional<Reduction> reduction = reduction_named(e.text)) {
    if (e.args.size() == 1 && expr(e.args[0]).kind == tree::ExprKind::Comprehension) {
      return comprehension(e.args[0], reduction);
    }
    if (e.args.size() == 1) {
      const NodeId node = check(e.args[0]);
      if (node == poison) return poison;
      if (type(node).vector()) {
        return require_defined(node, e.args[0], tree::none) ? reduce_vector(*reduction, node, e.span) : poison;
      }
      policy_.error("E0221", expr(e.args[0]).span, quoted(e.text) + " needs a vector", "this is one value",
                    "for example `" + e.text + "(g.rewards)` or `" + e.text + "(r.tokens for r in g.rollouts)`");
      return poison;
    }
    if (e.args.size() != 2 && !(e.args.size() > 2 && (e.text == "min" || e.text == "max"))) {
      policy_.error("E0110", e.span, quoted(e.text) + " takes one vector");
      return poison;
    }
  }
  const int index = find_builtin(e.text);
  if (index < 0 && reduction_named(e.text)) {
    policy_.error("E0110", e.span, quoted(e.text) + " takes one vector", "",
                  "put the values into a list: `" + e.text + "([…])`");
    return poison;
  }
  if (index < 0) {
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
  return (e.text == "min" || e.text == "max") && e.args.size() > 2 ? extremes(index, id) : builtin(index, id);
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

// A call of a row of the table, its arguments already checked one by one.
NodeId Expressions::apply(int index, std::vector<NodeId> nodes, const std::vector<tree::ExprId>& ids, Span span) {
  const Builtin& row = builtins()[static_cast<std::size_t>(index)];
  const bool scalar = std::none_of(row.arguments.begin(), row.arguments.end(),
                                   [](const Argument& argument) { return takes_vector(argument.kind); });
  if (scalar && std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) { return type(node).vector(); })) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const tree::ExprId id = ids[i] == tree::none ? ids[0] : ids[i];
      if (type(nodes[i]).vector() && !require_defined(nodes[i], id, tree::none)) return poison;
    }
    return lift(nodes, span, [&](const std::vector<NodeId>& args) { return apply(index, args, ids, span); });
  }
  Type common = plain(Base::Int);
  int first_number = -1;
  bool all_prob = true;
  Type element = plain(Base::Real);
  std::vector<Type> vectors;
  Unit kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Argument& argument = row.arguments[i];
    const std::string role = quoted(argument.name) + " of " + quoted(row.name);
    const tree::ExprId id = ids[i] == tree::none ? ids[0] : ids[i];
    if (i == 0) kept = type(nodes[0]).unit;
    if (takes_vector(argument.kind)) {
      const Type given = type(nodes[i]);
      if (!vector_argument(argument, nodes[i], id, role)) return poison;
      if (vectors.empty()) element = defined(element_of(given));
      const bool real = argument.kind == ArgumentKind::RealVector || argument.kind == ArgumentKind::Matrix ||
                        argument.kind == ArgumentKind::Reals;
      if (real) nodes[i] = to_reals(nodes[i]);
      if (nodes[i] == poison) return poison;
      vectors.push_back(type(nodes[i]));
      continue;
    }
    if (argument.kind == ArgumentKind::Number) {
      if (!numeric(type(nodes[i]))) {
        policy_.error("E0201", expr(id).span, role + " is a number, not " + describe(type(nodes[i])));
        return poison;
      }
      if (!require_defined(nodes[i], id, tree::none)) return poison;
      all_prob = all_prob && type(nodes[i]).prob;
      if (first_number < 0) {
        first_number = static_cast<int>(i);
        common = type(nodes[i]);
        continue;
      }
      const std::optional<Type> both =
          unify(nodes[static_cast<std::size_t>(first_number)], nodes[i], ids[static_cast<std::size_t>(first_number)],
                id, "E0213", "stand in one call");
      if (!both) return poison;
      common.base = both->base;
      if (!both->unit.plain()) common.unit = both->unit;
      continue;
    }
    Type wanted = plain(argument.kind == ArgumentKind::Int    ? Base::Int
                        : argument.kind == ArgumentKind::Real ? Base::Real
                        : argument.kind == ArgumentKind::Bool ? Base::Bool
                                                              : Base::Beta);
    if (argument.unit >= 0) wanted.unit = of(static_cast<BaseUnit>(argument.unit));
    if (argument.unit == -2 && type(nodes[i]).unit == of(BaseUnit::Rollouts)) wanted.unit = of(BaseUnit::Rollouts);
    if (argument.unit < 0 && row.keeps_unit != 0) wanted.unit = type(nodes[i]).unit;
    nodes[i] = fit(nodes[i], id, wanted, role);
    if (nodes[i] == poison) return poison;
  }
  // A real may have come after ints: convert those before it too.
  for (std::size_t i = 0; first_number >= 0 && i < nodes.size(); ++i) {
    if (row.arguments[i].kind == ArgumentKind::Number && common.base == Base::Real) nodes[i] = to_real(nodes[i]);
  }
  if (!meet(row, vectors, span)) return poison;
  Type result = plain(Base::Real);
  switch (row.result) {
    case ResultKind::Int:
      result = plain(Base::Int);
      break;
    case ResultKind::Real:
      break;
    case ResultKind::Prob:
      result.prob = true;
      break;
    case ResultKind::Bool:
      result = plain(Base::Bool);
      break;
    case ResultKind::Beta:
      result = plain(Base::Beta);
      break;
    case ResultKind::Number:
      result = common;
      break;
    case ResultKind::Element:
      result = element;
      break;
    case ResultKind::IntVector:
      result = vector_of(plain(Base::Int), Scope::List);
      break;
    case ResultKind::RealVector:
      result = vector_of(plain(Base::Real), Scope::List);
      break;
    default:
      result = shape_of_result(row.result, vectors);
      break;
  }
  if (row.keeps_unit != 0) result.unit = product(Unit{}, kept, row.keeps_unit);
  if (row.result == ResultKind::Number) {
    result.optional = false;
    result.prob = all_prob && result.base == Base::Real;
    if (row.name == "clamp" && result.base == Base::Real && result.unit.plain()) {
      result.prob = type(nodes[1]).prob && type(nodes[2]).prob;  // bounds within 0..1
    }
  }
  result.optional = row.result_optional;
  if (result.vector()) {
    result.missing = row.result_missing;
    const bool kept_place = row.result == ResultKind::RealsAlong || row.result == ResultKind::IntsAlong;
    result.optional = result.optional || (kept_place && !row.fills && vectors.front().optional);
  }
  return builder_.make(Op::Call, result, span, std::move(nodes), index);
}

// True where a vector is one that the argument takes; says so where it is not.
bool Expressions::vector_argument(const Argument& argument, NodeId node, tree::ExprId id, const std::string& role) {
  const Type given = type(node);
  const bool matrix = argument.kind == ArgumentKind::Matrix;
  const bool shape = matrix ? given.matrix() : given.vector();
  const bool flat = argument.kind == ArgumentKind::Reals || argument.kind == ArgumentKind::AnyVector || matrix;
  const bool fits = argument.kind == ArgumentKind::AnyVector ||
                    (argument.kind == ArgumentKind::BoolVector ? given.base == Base::Bool
                     : argument.kind == ArgumentKind::IntVector ? given.base == Base::Int
                                                                : numeric(given));
  if (!shape || !fits || (given.matrix() && !flat)) {
    const std::string wanted = matrix                                       ? "a matrix"
                               : argument.kind == ArgumentKind::BoolVector ? "a vector of true and false"
                               : argument.kind == ArgumentKind::IntVector  ? "a vector of whole numbers"
                                                                           : "a vector of numbers";
    policy_.error(shape ? "E0201" : "E0221", expr(id).span,
                  role + " is " + wanted + ", not " +
                      (shape && !given.matrix() ? "one of " + describe(element_of(given)) : describe(given)),
                  given.vector() ? "" : "this is one value");
    return false;
  }
  const bool whole = argument.defined || matrix || argument.kind == ArgumentKind::Reals;
  return whole ? require_elements(node, id) : require_defined(node, id, tree::none);
}

// Vectors and matrices of one call run over the same things: what a product sums over, or all elements.
bool Expressions::meet(const Builtin& row, const std::vector<Type>& vectors, Span span) {
  if (vectors.size() < 2 || row.result == ResultKind::Outer || row.apart) return true;
  const Type& first = vectors.front();
  const Type& last = vectors.back();
  const Type left = first.matrix() && (row.result == ResultKind::Product || row.result == ResultKind::Same)
                        ? columns_of(first)
                        : along(plain(Base::Real), first);
  const Type right = along(plain(Base::Real), last);
  if (same_shape(left, right)) return true;
  const bool sizes = left.scope == right.scope;
  policy_.error("E0220", span, quoted(row.name) + " needs both to run over the same",
                sizes ? std::to_string(left.rows) + " against " + std::to_string(right.rows)
                      : "one is " + describe(left) + ", the other " + describe(right));
  return false;
}

}  // namespace allot::lang::checker
