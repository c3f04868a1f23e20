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

// The solvers decide by position between items that are worth the same. So with `ties: seeded` the loop goes through the
// items in an order that `drawn` gives, and no engine knows of it.
Expressions::Order Expressions::seeded_order(NodeId drawn, int loop, Binding& item, Span span) {
  Order order;
  const Loop walked = builder_.handler.loops[static_cast<std::size_t>(loop)];
  if (walked.source != -1) order.source = repeatable(walked.source, order.owned);
  const auto sorted = [&](NodeId vector, NodeId ties) {
    const NodeId ascending = builder_.constant(Cell::of(false), plain(Base::Bool), span);
    const NodeId places = builder_.make(Op::Call, vector_of(plain(Base::Int), Scope::List), span,
                                        {vector, ascending, ties}, find_builtin("argsort"));
    return repeatable(places, order.owned);
  };
  const NodeId equal = builder_.constant(Cell::of(0.0), plain(Base::Real), span);
  const NodeId all_equal = builder_.make(Op::Map, vector_of(plain(Base::Real), walked.scope), span, {equal}, -1,
                                         builder_.loop(walked.scope, builder_.copy(order.source)));
  const NodeId places = sorted(all_equal, drawn);
  order.inverse = sorted(to_reals(builder_.copy(places)), builder_.constant(Cell::of(-1.0), plain(Base::Real), span));

  NodeId source = places;
  item.placed = item.meaning == Meaning::Subject && order.source == -1;
  if (order.source != -1) {
    const Type element = element_of(type(order.source));
    const int through = builder_.loop(Scope::List, places);
    const NodeId place = builder_.make(Op::Element, plain(Base::Int), span, {}, -1, through);
    const NodeId moved = builder_.make(Op::At, element, span, {builder_.copy(order.source), place});
    source = builder_.make(Op::Map, vector_of(element, type(order.source).scope), span, {moved}, -1, through);
  }
  builder_.handler.loops[static_cast<std::size_t>(loop)].source = source;
  return order;
}

// The counts of the items as they stood before they were put in order.
NodeId Expressions::as_walked(NodeId counts, Order order, Scope scope, Span span) {
  const Type given = type(counts);
  const NodeId ordered = repeatable(counts, order.owned);
  const int loop = builder_.loop(scope, builder_.copy(order.source));
  const NodeId position = builder_.make(Op::Position, plain(Base::Int), span, {}, -1, loop);
  const NodeId place = builder_.make(Op::At, plain(Base::Int), span, {order.inverse, position});
  const NodeId count = builder_.make(Op::At, element_of(given), span, {ordered, place});
  return in_scope(builder_.make(Op::Map, given, span, {count}, -1, loop), std::move(order.owned), span);
}

NodeId Expressions::allot(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const bool proportional = e.text == "in proportion to";
  const NodeId budget_given = check(e.args[0]);
  Type unit = plain(Base::Int);
  if (budget_given != poison && !bare(e.args[0])) unit.unit = type(budget_given).unit;
  const NodeId budget = fit(budget_given, e.args[0], unit, "the budget of `allot`");

  const bool seeded = e.args.size() > 5;
  const NodeId drawn = seeded ? check(e.args[5]) : -1;

  const Span item = declared_at(expr(e.args[0]).span.end, expr(e.args[1]).span.begin, "over", e.labels[0], e.span);
  const int loop = open_loop(e.args[1], {e.labels[0], item});
  Order order;
  if (drawn != poison && loop != -1) order = seeded_order(drawn, loop, *policy_.names.find(e.labels[0]), e.span);
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
  if (budget == poison || loop == -1 || (seeded && drawn == poison) || low == poison || high == poison || utility == poison) return poison;

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

  std::optional<Allotment> how = solver(id, low, high, utility, counts, first);
  if (!how) return poison;
  if (seeded) how->why += "; ties by the draw " + policy_.text(expr(e.args[5]).args[0]);
  const std::optional<Cell> least = builder_.value(low);
  const Scope scope = builder_.handler.loops[static_cast<std::size_t>(loop)].scope;
  Type result = vector_of(unit, scope);
  result.optional = !least || least->integer() > 0;  // the lows may be more than the budget
  const NodeId given =
      builder_.make(Op::Allot, result, e.span, {budget, low, high, utility}, builder_.allotment(*how), loop);
  return seeded ? as_walked(given, std::move(order), scope, e.span) : given;
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
