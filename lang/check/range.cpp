#include "lang/check/range.h"

#include <algorithm>
#include <cmath>

#include "lang/builtins.h"

namespace allot::lang::checker {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Interval join(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Bounds meet as 0 · ∞ = 0: neither is reached.
double times(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

Interval product(const Interval& a, const Interval& b) {
  const auto [low, high] = std::minmax({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                                        times(a.high, b.high)});
  return {low, high};
}

// A division by 0 is a fault, so the divisor is not 0.
Interval quotient(const Interval& a, const Interval& b) {
  if (b.low >= 0) return product(a, {b.high == infinity ? 0 : 1 / b.high, b.low == 0 ? infinity : 1 / b.low});
  if (b.high <= 0) return product(a, {b.high == 0 ? -infinity : 1 / b.high, b.low == -infinity ? 0 : 1 / b.low});
  return {};
}

}  // namespace

const ReadKey& key_of(const Builder& builder, const Node& node) {
  const std::vector<ReadKey>& keys = node.op == Op::Read ? builder.handler.reads : builder.handler.columns;
  return keys[static_cast<std::size_t>(node.index)];
}

Interval Ranges::of(NodeId id) {
  if (id == poison) return {};
  if (id < first_) return outer_->of(id);
  for (auto next = first_ + static_cast<NodeId>(known_.size()); next <= id; ++next) {
    Interval range = find(next);
    if (builder_[next].type.prob) range = {std::max(range.low, 0.0), std::min(range.high, 1.0)};
    known_.push_back(range);
  }
  return known_[static_cast<std::size_t>(id - first_)];
}

Interval Ranges::fact(const Node& node) const {
  const Fact fact = key_of(builder_, node).fact;
  if (fact == Fact::Draw) return {0, 1};
  if (fact == Fact::Turn && node.op == Op::Read) {
    const Handler& handler = builder_.handler;
    const std::optional<ReadArgument>& at = handler.number;
    // Nobody is beyond the turn at which those that are ahead are held.
    const bool held = handler.point == Point::Turn && !handler.ahead_runs;
    if (held && at && at->kind == ReadArgument::Kind::Integer) {
      return {static_cast<double>(at->integer), static_cast<double>(at->integer)};
    }
  }
  const bool never_negative = node.type.base == Base::Int || fact == Fact::RewardVariance || fact == Fact::RewardStd ||
                              fact == Fact::PairwiseMean || fact == Fact::PairwiseMin || fact == Fact::PairwiseMax ||
                              fact == Fact::ActionEntropy || fact == Fact::Entropy;
  return {never_negative ? 0 : -infinity, infinity};
}

Interval Ranges::call(const Node& node) {
  const std::string_view name = builtins()[static_cast<std::size_t>(node.index)].name;
  if (name == "min" || name == "max") {
    const Interval a = of(node.args[0]);
    const Interval b = of(node.args[1]);
    return name == "min" ? Interval{std::min(a.low, b.low), std::min(a.high, b.high)}
                         : Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  if (name == "clamp") return {of(node.args[1]).low, of(node.args[2]).high};
  if (name == "floor" || name == "round_even" || name == "ceil") {
    const Interval x = of(node.args[0]);
    return {std::floor(x.low), std::ceil(x.high)};
  }
  const bool never_negative = name == "abs" || name == "sqrt" || name == "exp" || name == "variance" || name == "std" ||
                              name == "size" || name == "beta_variance" || name == "beta_learnability" ||
                              (name == "pow" && of(node.args[0]).low >= 0);
  return {never_negative ? 0 : -infinity, infinity};
}

Interval Ranges::find(NodeId id) {
  const Node& node = builder_[id];
  if (const std::optional<Cell> value = builder_.value(id); value && value->defined != 0) {
    if (node.type.base != Base::Int && node.type.base != Base::Real) return {};
    const double x = node.type.base == Base::Int ? static_cast<double>(value->integer()) : value->real();
    return {x, x};
  }
  const auto arg = [&](std::size_t i) { return of(node.args[i]); };
  switch (node.op) {
    case Op::Parameter: {
      const Parameter& parameter = policy_.program.parameters[static_cast<std::size_t>(node.index)];
      return {parameter.low.value_or(-infinity), parameter.high.value_or(infinity)};
    }
    case Op::Read:
    case Op::Column:
      return fact(node);
    case Op::Element:
      return node.index >= 0 ? fact(node) : of(builder_.handler.loops[static_cast<std::size_t>(node.loop)].source);
    case Op::Position:
      return node.loop == loop_ ? position_ : Interval{0, infinity};
    case Op::Let:
      return of(builder_.handler.lets[static_cast<std::size_t>(node.index)].value);
    case Op::Assume:
    case Op::ToReal:
    case Op::Scope:
    case Op::Map:
    case Op::At:
      return arg(0);
    case Op::Negate:
      return {-arg(0).high, -arg(0).low};
    case Op::Add:
      return {arg(0).low + arg(1).low, arg(0).high + arg(1).high};
    case Op::Subtract:
      return {arg(0).low - arg(1).high, arg(0).high - arg(1).low};
    case Op::Multiply:
      return product(arg(0), arg(1));
    case Op::Divide:
      return quotient(arg(0), arg(1));
    case Op::If:
      return join(arg(1), arg(2));
    case Op::Coalesce:
      return join(arg(0), arg(1));
    case Op::ListOf: {
      Interval all = arg(0);
      for (std::size_t i = 1; i < node.args.size(); ++i) all = join(all, arg(i));
      return all;
    }
    case Op::Reduce:
      switch (static_cast<Reduction>(node.index)) {
        case Reduction::Count: return {0, infinity};
        case Reduction::Sum: return {arg(0).low >= 0 ? 0 : -infinity, arg(0).high <= 0 ? 0 : infinity};
        case Reduction::Mean:
        case Reduction::Min:
        case Reduction::Max: return arg(0);
        default: return {};
      }
    case Op::Allot:
      return {0, infinity};
    case Op::Call:
      return call(node);
    default:
      return {};
  }
}

}  // namespace allot::lang::checker
