#include "lang/check/expressions.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "common/stack.h"
#include "lang/check/declarations.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

// A vector of no stated length takes any; one over things of its own only such.
bool fits_shape(const Type& given, const Type& expected) {
  const bool rows = expected.rows > 0 ? given.rows == expected.rows && given.scope == Scope::List
                                      : given.scope == expected.scope;
  const bool columns = expected.columns > 0 ? given.columns == expected.columns && given.across == Scope::List
                                            : given.across == expected.across;
  return rows && columns;
}

}  // namespace

NodeId Expressions::check(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (stack_ends()) return policy_.too_deep_for_stack(e.span);
  switch (e.kind) {
    case tree::ExprKind::Integer:
    case tree::ExprKind::Real:
    case tree::ExprKind::Percent:
      return number(e, false);
    case tree::ExprKind::Bool:
      return builder_.constant(Cell::of(e.text == "true"), plain(Base::Bool), e.span);
    case tree::ExprKind::Undefined:
      return builder_.constant(Cell::undefined(), optional(plain(Base::Real)), e.span);
    case tree::ExprKind::String:
      policy_.error("E0204", e.span, "a text is not a value here", "texts stand in messages and as names of draws");
      return poison;
    case tree::ExprKind::Name:
      return name(id);
    case tree::ExprKind::Field:
      return field(id);
    case tree::ExprKind::Index:
      return index(id);
    case tree::ExprKind::Call:
      return call(id);
    case tree::ExprKind::Unary:
      return unary(id);
    case tree::ExprKind::Binary:
      if (e.op == "and" || e.op == "or") return logic(id);
      if (e.op == "??") return coalesce(id);
      return arithmetic(id);
    case tree::ExprKind::Compare:
      return compare(id);
    case tree::ExprKind::If:
      return if_else(id);
    case tree::ExprKind::IsUndefined:
      return is_undefined(id);
    case tree::ExprKind::Comprehension:
      return comprehension(id, std::nullopt);
    case tree::ExprKind::List:
      return list(id);
    case tree::ExprKind::Record:
      policy_.error("E0204", e.span, "a " + e.text + " can be written down in tests only");
      return poison;
    case tree::ExprKind::Allot:
      return allot(id);
  }
  return poison;
}

bool Expressions::known(NodeId condition, bool answer) const {
  const std::optional<Cell> value = builder_.value(condition);
  return value && value->defined != 0 && type(condition).base == Base::Bool && value->truth() == answer;
}

NodeId Expressions::check_unless(bool dead, tree::ExprId id) {
  if (dead) builder_.enter_dead();
  const NodeId node = check(id);
  if (dead) builder_.leave_dead();
  return node;
}

NodeId Expressions::check_as(tree::ExprId id, const Type& expected, std::string_view role) {
  if (expr(id).kind == tree::ExprKind::Undefined && expected.optional) {
    return builder_.constant(Cell::undefined(), expected, expr(id).span);
  }
  return fit(check(id), id, expected, role);
}

NodeId Expressions::condition(tree::ExprId id) {
  const NodeId node = check(id);
  if (node == poison) return poison;
  if (type(node).vector()) {
    policy_.error("E0221", expr(id).span, "a condition is one value, not " + describe(type(node)), "this is a vector",
                  type(node).base == Base::Bool
                      ? "say `any(" + policy_.text(id) + ")` or `all(" + policy_.text(id) + ")`"
                  : numeric(type(node)) ? "compare its elements: `any(" + as_operand(id) + " > 0)`"
                                        : "");
    return poison;
  }
  if (type(node).base != Base::Bool) {
    policy_.error("E0203", expr(id).span, "a condition must be true or false", "this is " + describe(type(node)),
                  numeric(type(node)) ? "compare it with something: `" + as_operand(id) + " > 0`" : "");
    return poison;
  }
  return require_defined(node, id, tree::none) ? node : poison;
}

// As it is written, in brackets where what stands beside it would be taken for a part of it.
std::string Expressions::as_operand(tree::ExprId id) const {
  const tree::ExprKind kind = expr(id).kind;
  const bool open = kind == tree::ExprKind::If || kind == tree::ExprKind::Allot || kind == tree::ExprKind::Compare ||
                    kind == tree::ExprKind::IsUndefined || expr(id).op == "and" || expr(id).op == "or" ||
                    expr(id).op == "not";
  return open ? "(" + policy_.text(id) + ")" : policy_.text(id);
}

// What to write for a number that must be whole. Where it is known, the function that rounds it says nothing more.
std::string Expressions::rounded(NodeId node, tree::ExprId id) const {
  const std::optional<Cell> value = builder_.value(node);
  if (!value || value->defined == 0) return where_.constant ? "" : "round it: `floor(" + policy_.text(id) + ")`";
  const double low = std::floor(value->real());
  if (std::abs(low) > 1e15) return {};  // beyond it not every whole number is a double
  const auto whole = [&](double x) {
    const std::string unit = to_text(type(node).unit);
    return quoted(std::to_string(static_cast<std::int64_t>(x)) + (unit.empty() ? "" : " " + unit));
  };
  return "write " + whole(low) + (low == value->real() ? "" : " or " + whole(low + 1));
}

// One value of the expected type: converts int to real, lets a bare literal take the unit, refuses the rest.
NodeId Expressions::fit(NodeId node, tree::ExprId id, const Type& expected, std::string_view role) {
  if (node == poison) return poison;
  const Type given = type(node);
  const Span span = expr(id).span;
  if (given.vector() != expected.vector() || given.matrix() != expected.matrix()) {
    policy_.error("E0221", span, std::string(role) + " is " + describe(expected) + ", not " + describe(given),
                  given.matrix() ? "this is a matrix" : given.vector() ? "this is a vector" : "this is one value");
    return poison;
  }
  if (given.vector() && !fits_shape(given, expected)) {
    policy_.error("E0220", span, std::string(role) + " is " + describe(expected) + ", not " + describe(given));
    return poison;
  }
  const bool whole = given.vector() ? expected.missing : expected.optional;
  if (!whole && !require_defined(node, id, tree::none)) return poison;
  if (given.vector() && given.optional && !expected.optional) {
    undefined_here(node, id, tree::none);
    return poison;
  }
  const bool base_fits = given.base == expected.base || (given.base == Base::Int && expected.base == Base::Real);
  if (!base_fits) {
    const bool broken = given.base == Base::Real && expected.base == Base::Int;
    policy_.error("E0201", span,
                  broken ? std::string(role) + " must be a whole number"
                         : std::string(role) + " is " + describe(expected) + ", not " + describe(given),
                  "this is " + to_text(given), broken ? rounded(node, id) : "");
    return poison;
  }
  if (numeric(given) && !(given.unit == expected.unit) && !(given.unit.plain() && bare(id))) {
    policy_.error("E0215", span,
                  std::string(role) + " is " + describe(defined(expected)) + ", not " + describe(defined(given)),
                  "this is " + describe(defined(given)));
    return poison;
  }
  if (given.base == Base::Int && expected.base == Base::Real) node = to_reals(node);
  if (node == poison) return poison;
  if (expected.prob && !type(node).prob) {
    const std::optional<Cell> value = builder_.value(node);
    const double number = !value ? -1 : value->real();
    if (value && value->defined != 0 && (number < 0 || number > 1)) {
      policy_.error("E0216", span, std::string(role) + " is a probability", "not in 0..1");
      return poison;
    }
    if (!value) {
      policy_.error("E0201", span, std::string(role) + " is a probability, and this may lie outside 0..1",
                    "this is " + describe(given), "say `clamp(" + policy_.text(id) + ", 0, 1)`");
      return poison;
    }
  }
  return node;
}

NodeId Expressions::refine(NodeId node, tree::ExprId id, double low, double high, std::string_view role) {
  if (node == poison || (type(node).prob && low <= 0 && high >= 1)) return node;
  if (const std::optional<Cell> value = builder_.value(node); value && value->defined != 0) {
    return within(policy_, *value, type(node), low, high, expr(id).span, std::string(role)) ? node : poison;
  }
  const Span span = expr(id).span;
  return lift({node}, span, [&](const std::vector<NodeId>& args) {
    const Type given = type(args[0]);
    const auto bound = [&](double x) {
      const Cell cell = given.base == Base::Int ? Cell::of(static_cast<std::int64_t>(x)) : Cell::of(x);
      return builder_.constant(cell, defined(given), span);
    };
    return builder_.make(Op::Call, given, span, {args[0], bound(low), bound(high)}, find_builtin("within"));
  });
}

// Digits to a constant. `negative` stands for a minus right before them, so that the smallest int can be written.
NodeId Expressions::number(const tree::Expr& e, bool negative) {
  const bool written = e.text.starts_with('-');  // the parser joins a minus to the smallest int
  const char* const begin = e.text.data() + (written ? 1 : 0);
  const char* const end = e.text.data() + e.text.size();
  negative = negative != written;
  Type type = plain(e.kind == tree::ExprKind::Integer ? Base::Int : Base::Real);
  if (!e.unit.empty()) {
    const std::optional<BaseUnit> unit = unit_named(e.unit);
    if (!unit) {
      std::vector<std::string> names;
      for (int i = 0; i < base_unit_count; ++i) names.emplace_back(lang::name(static_cast<BaseUnit>(i)));
      policy_.error("E0210", e.span, quoted(e.unit) + " is not a unit", "", near_help(e.unit, names));
      return poison;
    }
    type.unit = of(*unit);
  }
  if (e.kind == tree::ExprKind::Integer) {
    std::uint64_t digits = 0;
    const auto [rest, problem] = std::from_chars(begin, end, digits);
    const std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX) + (negative ? 1 : 0);
    if (problem != std::errc() || rest != end || digits > most) {
      policy_.error("E0231", e.span, "this number does not fit into 64 bits", "at most 9223372036854775807");
      return poison;
    }
    const std::int64_t value = static_cast<std::int64_t>(negative ? ~digits + 1 : digits);
    return builder_.constant(Cell::of(value), type, e.span);
  }
  double value = 0;
  const auto [rest, problem] = std::from_chars(begin, end, value);
  if (problem == std::errc::result_out_of_range && std::abs(value) < 1) {
    value = 0;  // smaller than any double
  } else if (problem != std::errc() || !std::isfinite(value)) {
    policy_.error("E0231", e.span, "this number is too large", "at most about 1.8e308");
    return poison;
  }
  if (e.kind == tree::ExprKind::Percent) value /= 100;
  if (negative) value = -value;
  type.prob = type.unit.plain() && value >= 0 && value <= 1;
  return builder_.constant(Cell::of(value), type, e.span);
}

NodeId Expressions::unary(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const tree::Expr& operand = expr(e.args[0]);
  const bool literal = operand.kind == tree::ExprKind::Integer || operand.kind == tree::ExprKind::Real ||
                       operand.kind == tree::ExprKind::Percent;
  if (e.op == "-" && literal && !operand.text.starts_with('-')) return number(operand, true);
  const NodeId node = check(e.args[0]);
  if (node == poison) return poison;
  const bool fits = e.op == "not" ? type(node).base == Base::Bool : numeric(type(node));
  if (!fits) {
    policy_.error("E0204", e.span, e.op == "not" ? "`not` turns round true and false" : "`-` needs a number",
                  "this is " + describe(type(node)));
    return poison;
  }
  if (!require_defined(node, e.args[0], id)) return poison;
  return lift({node}, e.span, [&](const std::vector<NodeId>& args) {
    Type result = type(args[0]);
    result.prob = false;
    return builder_.make(e.op == "not" ? Op::Not : Op::Negate, result, e.span, args);
  });
}

NodeId Expressions::if_else(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const NodeId test = condition(e.args[0]);
  std::size_t mark = narrow(defined_when(e.args[0], true));
  NodeId then = check_unless(known(test, false), e.args[1]);
  widen(mark);
  mark = narrow(defined_when(e.args[0], false));
  NodeId otherwise = check_unless(known(test, true), e.args[2]);
  widen(mark);
  if (test == poison || then == poison || otherwise == poison) return poison;
  Type result = type(then);
  const bool undefined =
      expr(e.args[1]).kind == tree::ExprKind::Undefined || expr(e.args[2]).kind == tree::ExprKind::Undefined;
  if (undefined) {
    result = type(expr(e.args[1]).kind == tree::ExprKind::Undefined ? otherwise : then);
    (result.vector() ? result.missing : result.optional) = true;
    builder_.retype(expr(e.args[1]).kind == tree::ExprKind::Undefined ? then : otherwise, result);
    return builder_.make(Op::If, result, e.span, {test, then, otherwise});
  }
  if (type(then).scope != type(otherwise).scope || type(then).across != type(otherwise).across) {
    policy_.error("E0220", e.span, "both branches of an `if` must be alike",
                  "one is " + describe(type(then)) + ", the other " + describe(type(otherwise)));
    return poison;
  }
  if (type(then).vector() && numeric(type(then)) && numeric(type(otherwise)) &&
      type(then).base != type(otherwise).base) {
    then = to_reals(then);
    otherwise = to_reals(otherwise);
    if (then == poison || otherwise == poison) return poison;
    result = type(then);
  }
  if (numeric(type(then)) && numeric(type(otherwise)) && !type(then).vector()) {
    const std::optional<Type> common = unify(then, otherwise, e.args[1], e.args[2], "E0213", "stand in one `if`");
    if (!common) return poison;
    result = *common;
  } else if (type(then).base != type(otherwise).base || !(type(then).unit == type(otherwise).unit)) {
    policy_.error("E0204", e.span, "both branches of an `if` must be alike",
                  "one is " + to_text(type(then)) + ", the other " + to_text(type(otherwise)));
    return poison;
  }
  result.optional = type(then).optional || type(otherwise).optional;
  result.missing = type(then).missing || type(otherwise).missing;
  result.prob = type(then).prob && type(otherwise).prob;
  if (type(then).rows != type(otherwise).rows) result.rows = 0;
  if (type(then).columns != type(otherwise).columns) result.columns = 0;
  return builder_.make(Op::If, result, e.span, {test, then, otherwise});
}

NodeId Expressions::logic(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const NodeId left = check(e.args[0]);
  const std::size_t mark = narrow(defined_when(e.args[0], e.op == "and"));
  const NodeId right = check_unless(known(left, e.op == "or"), e.args[1]);
  widen(mark);
  if (left == poison || right == poison) return poison;
  for (const auto& [node, arg] : {std::pair{left, e.args[0]}, std::pair{right, e.args[1]}}) {
    if (type(node).base != Base::Bool) {
      policy_.error("E0203", expr(arg).span, quoted(e.op) + " joins what is true or false",
                    "this is " + describe(type(node)));
      return poison;
    }
    if (!require_defined(node, arg, tree::none)) return poison;
  }
  return lift({left, right}, e.span, [&](const std::vector<NodeId>& args) {
    return builder_.make(e.op == "and" ? Op::And : Op::Or, plain(Base::Bool), e.span, args);
  });
}

std::vector<MessagePart> Expressions::message(tree::ExprId id, int& holes) {
  std::vector<MessagePart> parts;
  if (id == tree::none) return parts;
  const tree::Expr& e = expr(id);
  if (e.kind != tree::ExprKind::String) {
    policy_.error("E0204", e.span, "a reason is a text in quotes", "", "write `because \"…\"`");
    return parts;
  }
  int count = 0;
  for (const tree::StringPart& part : e.parts) {
    if (part.hole == tree::none) {
      parts.push_back({part.text, -1});
      continue;
    }
    const NodeId node = check(part.hole);
    if (node == poison) continue;
    if (type(node).vector()) {
      policy_.error("E0221", expr(part.hole).span, "a hole shows one value, not " + describe(type(node)),
                    "this is a vector",
                    "show one figure of it: `" + std::string(numeric(type(node)) ? "mean" : "count") + "(" +
                        policy_.text(part.hole) + ")`");
      continue;
    }
    parts.push_back({{}, node});
    ++count;
  }
  if (e.parts.empty()) parts.push_back({e.text, -1});
  holes = std::max(holes, count);
  return parts;
}

}  // namespace allot::lang::checker
