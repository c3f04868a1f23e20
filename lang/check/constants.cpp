// Values that the text alone tells: defaults, initial values, ranges.
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

double number(const Cell& cell, const Type& type) {
  return type.base == Base::Int ? static_cast<double>(cell.integer()) : cell.real();
}

}  // namespace

std::optional<Range> read_range(Policy& policy, const tree::TypeName& name, Type type) {
  if (name.low == tree::none && !name.arguments.empty()) return read_range(policy, name.arguments[0], type);
  if (name.low == tree::none || name.high == tree::none) return std::nullopt;
  type = element_of(type);
  type.prob = false;
  type.optional = false;
  const std::optional<Cell> low = constant(policy, name.low, type, "the low end of a range");
  const std::optional<Cell> high = constant(policy, name.high, type, "the high end of a range");
  if (!low || !high) return std::nullopt;
  const Range range{number(*low, type), number(*high, type)};
  if (range.low > range.high) {
    policy.error("E0216", {policy.tree[name.low].span.begin, policy.tree[name.high].span.end},
                 "a range runs from low to high", "this one is empty");
    return std::nullopt;
  }
  return range;
}

std::optional<Cell> constant(Policy& policy, tree::ExprId id, const Type& expected, std::string_view role) {
  Builder builder(policy);
  Where where;
  where.constant = true;
  Expressions expressions(policy, builder, where);
  const NodeId node = expressions.check_as(id, expected, role);
  if (node == poison) return std::nullopt;
  const std::optional<Cell> value = builder.value(node);
  if (!value)
    policy.error("E0404", policy.tree[id].span, std::string(role) + " must be known from the text alone", "",
                 "write a literal");
  return value;
}

std::optional<std::vector<Cell>> constants(Policy& policy, tree::ExprId id, const Type& expected,
                                           std::string_view role) {
  if (!expected.vector()) {
    const std::optional<Cell> one = constant(policy, id, expected, role);
    return one ? std::optional(std::vector<Cell>{*one}) : std::nullopt;
  }
  Builder builder(policy);
  Where where;
  where.constant = true;
  Expressions expressions(policy, builder, where);
  const NodeId node = expressions.check_as(id, expected, role);
  if (node == poison) return std::nullopt;
  std::vector<Cell> cells;
  for (const NodeId element : builder[node].args) {
    if (const std::optional<Cell> value = builder.value(element)) cells.push_back(*value);
  }
  if (builder[node].op == Op::ListOf && static_cast<std::int64_t>(cells.size()) == expected.cells()) return cells;
  policy.error("E0404", policy.tree[id].span, std::string(role) + " must be known from the text alone", "",
               expected.matrix() ? "write its rows: `[[1, 0], [0, 1]]`" : "write its elements: `[1, 0]`");
  return std::nullopt;
}

bool within(Policy& policy, const Cell& value, const Type& type, double low, double high, Span span,
            const std::string& what) {
  if (number(value, type) >= low && number(value, type) <= high) return true;
  const auto text = [&](double x) {
    return type.base == Base::Int ? show(Cell::of(static_cast<std::int64_t>(x)), type) : show(Cell::of(x), type);
  };
  policy.error("E0216", span, what + " lies outside of its range", "not in " + text(low) + ".." + text(high));
  return false;
}

}  // namespace allot::lang::checker
