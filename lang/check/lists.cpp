// Lists that are written out: vectors, and matrices row by row.
#include <algorithm>
#include <limits>

#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

// The values of `[a, b]`, or of `[[a, b], [c, d]]` row by row; nothing where the rows differ.
std::optional<std::vector<tree::ExprId>> Expressions::list_elements(const tree::Expr& list, Type& shape) {
  const auto is_row = [&](tree::ExprId id) { return expr(id).kind == tree::ExprKind::List; };
  const auto rows = std::count_if(list.args.begin(), list.args.end(), is_row);
  const auto most = std::numeric_limits<std::int16_t>::max();
  if (list.args.size() > most) {
    policy_.error("E0204", list.span, "a list has at most " + std::to_string(most) + " elements");
    return std::nullopt;
  }
  if (rows == 0) {
    shape = vector_of(Type{}, Scope::List);
    shape.rows = static_cast<std::int16_t>(list.args.size());
    return list.args;
  }
  std::vector<tree::ExprId> all;
  const std::size_t width = expr(list.args[0]).args.size();
  for (const tree::ExprId id : list.args) {
    const tree::Expr& row = expr(id);
    const bool written_out = is_row(id) && !row.args.empty() &&
                             expr(row.args[0]).kind != tree::ExprKind::Comprehension && row.args.size() <= most;
    if (!written_out || row.args.size() != width) {
      policy_.error("E0204", row.span, "the rows of a matrix are lists of one length",
                    !written_out
                        ? "this is not a list of values"
                        : "this has " + std::to_string(row.args.size()) + ", the first " + std::to_string(width),
                    "for example `[[1, 0], [0, 1]]`");
      return std::nullopt;
    }
    all.insert(all.end(), row.args.begin(), row.args.end());
  }
  shape = matrix_of(Type{}, static_cast<int>(list.args.size()), static_cast<int>(width));
  return all;
}

NodeId Expressions::list(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (e.args.size() == 1 && expr(e.args[0]).kind == tree::ExprKind::Comprehension) {
    return comprehension(e.args[0], std::nullopt);
  }
  if (e.args.empty()) {
    policy_.error("E0204", e.span, "an empty list has no type");
    return poison;
  }
  Type shape;
  const std::optional<std::vector<tree::ExprId>> elements = list_elements(e, shape);
  if (!elements) return poison;
  const std::vector<tree::ExprId>& args = *elements;
  std::vector<NodeId> nodes;
  for (const tree::ExprId arg : args) {
    nodes.push_back(check(arg));
    if (nodes.back() == poison) return poison;
    if (type(nodes.back()).vector()) {
      policy_.error("E0221", expr(arg).span, "an element of a list is one value", "this is a vector",
                    shape.matrix() ? "" : "a matrix is written out: `[[1, 0], [0, 1]]`");
      return poison;
    }
  }
  // The word `undefined` is of the type that the others have.
  const auto unknown = [&](std::size_t i) { return expr(args[i]).kind == tree::ExprKind::Undefined; };
  std::size_t first = 0;
  while (first + 1 < nodes.size() && unknown(first)) ++first;
  Type result = type(nodes[first]);
  bool real = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (unknown(i)) {
      result.optional = true;
      continue;
    }
    const Type& given = type(nodes[i]);
    if (numeric(given) != numeric(type(nodes[first])) || (!numeric(given) && given.base != result.base)) {
      policy_.error("E0204", expr(args[i]).span, "the elements of a list must be alike", "this is " + describe(given));
      return poison;
    }
    real = real || given.base == Base::Real;
    if (numeric(given) && !(given.unit == result.unit)) {
      if (bare(args[i])) continue;
      if (!result.unit.plain()) {
        units_clash("E0213", "stand in one list", result, given, args[first], args[i]);
        return poison;
      }
      result.unit = given.unit;
    }
    result.optional = result.optional || given.optional;
    result.prob = result.prob && given.prob;
  }
  if (real) {
    result.base = Base::Real;
    result.prob = true;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (unknown(i)) continue;
      nodes[i] = to_real(nodes[i]);
      result.prob = result.prob && type(nodes[i]).prob;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (unknown(i)) builder_.retype(nodes[i], element_of(result));
  }
  return builder_.make(Op::ListOf, shaped(result, shape), e.span, nodes);
}

}  // namespace allot::lang::checker
