// A call of a row of the table: whether it takes its arguments, and of which type its result is.
#include <algorithm>
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

// What the arguments so far say of the result.
struct Expressions::Taken {
  Unit kept;                         // of the first
  Type common = plain(Base::Int);    // of the Number arguments
  int first_number = -1;             // the first of those
  bool all_prob = true;              // of those too
  Type element = plain(Base::Real);  // of the first vector
  std::vector<Type> vectors;
};

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

}  // namespace

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
  Taken taken;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!take(row, i, nodes, ids, taken)) return poison;
  }
  // A real may have come after ints: convert those before it too.
  for (std::size_t i = 0; taken.first_number >= 0 && i < nodes.size(); ++i) {
    if (row.arguments[i].kind == ArgumentKind::Number && taken.common.base == Base::Real) nodes[i] = to_real(nodes[i]);
  }
  if (!meet(row, taken.vectors, span)) return poison;
  const Type result = result_type(row, taken, nodes);
  return builder_.make(Op::Call, result, span, std::move(nodes), index);
}

// The argument at `i`, brought to the type that the row wants; false after an error.
bool Expressions::take(const Builtin& row, std::size_t i, std::vector<NodeId>& nodes,
                       const std::vector<tree::ExprId>& ids, Taken& taken) {
  const Argument& argument = row.arguments[i];
  const std::string role = quoted(argument.name) + " of " + quoted(row.name);
  const tree::ExprId id = ids[i] == tree::none ? ids[0] : ids[i];
  if (i == 0) taken.kept = type(nodes[0]).unit;
  if (takes_vector(argument.kind)) return take_vector(argument, nodes[i], id, role, taken);
  if (argument.kind == ArgumentKind::Number) return take_number(i, nodes, ids, role, taken);
  Type wanted = plain(argument.kind == ArgumentKind::Int    ? Base::Int
                      : argument.kind == ArgumentKind::Real ? Base::Real
                      : argument.kind == ArgumentKind::Bool ? Base::Bool
                                                            : Base::Beta);
  if (argument.unit >= 0) wanted.unit = of(static_cast<BaseUnit>(argument.unit));
  if (argument.unit == -2 && type(nodes[i]).unit == of(BaseUnit::Rollouts)) wanted.unit = of(BaseUnit::Rollouts);
  if (argument.unit < 0 && row.keeps_unit != 0) wanted.unit = type(nodes[i]).unit;
  nodes[i] = fit(nodes[i], id, wanted, role);
  return nodes[i] != poison;
}

bool Expressions::take_vector(const Argument& argument, NodeId& node, tree::ExprId id, const std::string& role,
                              Taken& taken) {
  const Type given = type(node);
  if (!vector_argument(argument, node, id, role)) return false;
  if (taken.vectors.empty()) taken.element = defined(element_of(given));
  const bool real = argument.kind == ArgumentKind::RealVector || argument.kind == ArgumentKind::Matrix ||
                    argument.kind == ArgumentKind::Reals;
  if (real) node = to_reals(node);
  if (node == poison) return false;
  taken.vectors.push_back(type(node));
  return true;
}

bool Expressions::take_number(std::size_t i, std::vector<NodeId>& nodes, const std::vector<tree::ExprId>& ids,
                              const std::string& role, Taken& taken) {
  const tree::ExprId id = ids[i] == tree::none ? ids[0] : ids[i];
  if (!numeric(type(nodes[i]))) {
    policy_.error("E0201", expr(id).span, role + " is a number, not " + describe(type(nodes[i])));
    return false;
  }
  if (!require_defined(nodes[i], id, tree::none)) return false;
  taken.all_prob = taken.all_prob && type(nodes[i]).prob;
  if (taken.first_number < 0) {
    taken.first_number = static_cast<int>(i);
    taken.common = type(nodes[i]);
    return true;
  }
  const auto first = static_cast<std::size_t>(taken.first_number);
  const std::optional<Type> both = unify(nodes[first], nodes[i], ids[first], id, "E0213", "stand in one call");
  if (!both) return false;
  taken.common.base = both->base;
  if (!both->unit.plain()) taken.common.unit = both->unit;
  return true;
}

Type Expressions::result_type(const Builtin& row, const Taken& taken, const std::vector<NodeId>& nodes) const {
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
      result = taken.common;
      break;
    case ResultKind::Element:
      result = taken.element;
      break;
    case ResultKind::IntVector:
      result = vector_of(plain(Base::Int), Scope::List);
      break;
    case ResultKind::RealVector:
      result = vector_of(plain(Base::Real), Scope::List);
      break;
    default:
      result = shape_of_result(row.result, taken.vectors);
      break;
  }
  if (row.keeps_unit != 0) result.unit = product(Unit{}, taken.kept, row.keeps_unit);
  if (row.result == ResultKind::Number) {
    result.optional = false;
    result.prob = taken.all_prob && result.base == Base::Real;
    if (row.name == "clamp" && result.base == Base::Real && result.unit.plain()) {
      result.prob = type(nodes[1]).prob && type(nodes[2]).prob;  // bounds within 0..1
    }
  }
  result.optional = row.result_optional;
  if (result.vector()) {
    result.missing = row.result_missing;
    const bool kept_place = row.result == ResultKind::RealsAlong || row.result == ResultKind::IntsAlong;
    result.optional = result.optional || (kept_place && !row.fills && taken.vectors.front().optional);
  }
  return result;
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
