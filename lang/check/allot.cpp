// `allot BUDGET over x in XS, n in LO..HI maximizing F`: counts over XS, and how they are found.
#include <algorithm>
#include <utility>

#include "lang/check/concavity.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"
#include "lang/limits.h"

namespace allot::lang::checker {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string whole(double value) {
  return std::to_string(static_cast<long long>(value));
}

}  // namespace

// LO or HI: a count in the unit of the budget, or in its own where the budget is a bare number.
NodeId Expressions::allot_bound(tree::ExprId id, Type& unit, std::string_view role) {
  const NodeId node = check(id);
  if (node == poison) return poison;
  if (unit.unit.plain() && type(node).base == Base::Int) unit.unit = type(node).unit;
  const NodeId bound = fit(node, id, unit, role);
  const std::optional<Cell> value = builder_.value(bound);
  if (value && value->integer() < 0) {
    policy_.error("E0306", expr(id).span, std::string(role) + " is not negative");
    return poison;
  }
  return bound;
}

NodeId Expressions::allot(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const bool proportional = e.text == "in proportion to";
  const NodeId budget_given = check(e.args[0]);
  Type unit = plain(Base::Int);
  if (budget_given != poison && !bare(e.args[0])) unit.unit = type(budget_given).unit;
  const NodeId budget = fit(budget_given, e.args[0], unit, "the budget of `allot`");

  const Span item = declared_at(expr(e.args[0]).span.end, expr(e.args[1]).span.begin, "over", e.labels[0], e.span);
  const int loop = open_loop(e.args[1], {e.labels[0], item});
  const NodeId low = allot_bound(e.args[2], unit, "LO of `allot`");
  const NodeId high = allot_bound(e.args[3], unit, "HI of `allot`");

  const int counts = builder_.loop(Scope::Single);
  const auto first = static_cast<NodeId>(builder_.handler.nodes.size());
  policy_.names.enter(false);
  if (!proportional) {
    const Span span = declared_at(expr(e.args[1]).span.end, expr(e.args[2]).span.begin, ",", e.labels[1], e.span);
    Binding count = value_binding({e.labels[1], span}, "variable");
    count.used = true;
    if (budget == poison || low == poison || high == poison) count.meaning = Meaning::Poison;
    count.loop = counts;
    count.node.op = Op::Position;
    count.node.type = unit;
    count.node.loop = counts;
    declare(std::move(count));
  }
  const tree::ExprId last = e.args[4];
  NodeId utility = check(last);
  policy_.names.leave();
  policy_.names.leave();
  if (budget == poison || loop == -1 || low == poison || high == poison || utility == poison) return poison;

  if (!numeric(type(utility)) || type(utility).vector()) {
    policy_.error("E0201", expr(last).span,
                  (proportional ? "a weight" : "a utility") + std::string(" is one number, not ") +
                      describe(type(utility)));
    return poison;
  }
  if (!require_defined(utility, last, tree::none)) return poison;
  utility = to_real(utility);
  if (e.text == "minimizing") utility = builder_.make(Op::Negate, plain(Base::Real), expr(last).span, {utility});
  if (utility == poison) return poison;

  const std::optional<Allotment> how = solver(id, low, high, utility, counts, first);
  if (!how) return poison;
  const std::optional<Cell> least = builder_.value(low);
  Type result = vector_of(unit, builder_.handler.loops[static_cast<std::size_t>(loop)].scope);
  result.optional = !least || least->integer() > 0;  // the lows may be more than the budget
  return builder_.make(Op::Allot, result, e.span, {budget, low, high, utility}, builder_.allotment(*how), loop);
}

std::optional<Allotment> Expressions::solver(tree::ExprId id, NodeId low, NodeId high, NodeId utility, int counts,
                                             NodeId first) {
  const tree::Expr& e = expr(id);
  if (e.text == "in proportion to") {
    return Allotment{Solver::Proportional, counts, 0, "the largest remainders, within the bounds", e.span};
  }
  const Interval range{std::max(ranges_.of(low).low, 0.0), ranges_.of(high).high};
  const auto bend = [&](const Interval& within) {
    return concavity(policy_, builder_, ranges_, utility, counts, first, within);
  };
  const Concavity found = bend(range);
  const bool minimizing = e.text == "minimizing";
  if (found.concave) {
    return Allotment{Solver::Greedy, counts, 0,
                     "exact greed: " + (minimizing ? "what is minimised is convex in the count" : found.why), e.span};
  }
  if (found.start > range.low && bend({found.start, range.high}).concave) {
    policy_.error("E0241", expr(e.args[2]).span, "here the utility is not concave yet", found.why,
                  "start there: `" + e.labels[1] + " in " + whole(found.start) + ".." + policy_.text(e.args[3]) + "`");
    return std::nullopt;
  }
  const double span = range.high - range.low;
  if (span > static_cast<double>(limits.allotted_span)) {
    policy_.error("E0240", expr(e.args[4]).span, "this cannot be allotted exactly", found.why,
                  span == infinity
                      ? "give HI a bound, so that every count can be tried: a number, or a parameter `in LO..HI`"
                      : "without concavity HI - LO is at most " + std::to_string(limits.allotted_span) +
                            ", and here it may be " + whole(span));
    return std::nullopt;
  }
  return Allotment{Solver::Exact, counts, static_cast<std::int64_t>(span), "every count is tried: " + found.why, e.span};
}

}  // namespace allot::lang::checker
