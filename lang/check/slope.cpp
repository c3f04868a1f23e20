#include "lang/check/slope.h"

#include <algorithm>
#include <utility>

#include "common/stack.h"
#include "lang/builtins.h"

namespace allot::lang::checker {

Type Slopes::plain_real() {
  Type type;
  type.base = Base::Real;
  return type;
}

NodeId Slopes::number(double value, Span span) { return builder_.constant(Cell::of(value), type_, span); }

NodeId Slopes::compare(Op op, NodeId a, NodeId b, Span span) {
  Type truth;
  truth.base = Base::Bool;
  return builder_.make(op, truth, span, {a, b});
}

NodeId Slopes::of(NodeId loss) {
  if (loss == poison) return poison;
  const Span span = builder_[loss].span;
  const NodeId found = slope(loss);
  return found == flat ? number(0, span) : found;
}

// Lets that a scope owns (the arguments of a function put in place) are seen in it alone. A slope stands outside, and
// never in a loop, so a copy that nobody owns has the same value.
std::int32_t Slopes::unowned(std::int32_t let) {
  const auto known = unowned_.find(let);
  if (known != unowned_.end()) return known->second;
  const bool owned = [&] {
    for (const Node& node : builder_.handler.nodes) {
      for (const std::int32_t own : node.owned) {
        if (own == let) return true;
      }
    }
    return false;
  }();
  if (!owned) return unowned_[let] = let;
  const Let original = builder_.handler.lets[static_cast<std::size_t>(let)];
  const NodeId value = copy(original.value);
  return unowned_[let] = builder_.let(original.name, value);
}

NodeId Slopes::copy(NodeId id) {
  if (id == poison) return poison;
  Node node = builder_[id];
  if (stack_ends()) return policy_.too_deep_for_stack(node.span);
  const bool scope = node.op == Op::Scope;
  if (scope && walks_ == 0) return copy(node.args.front());
  if (scope) inside_.insert(node.owned.begin(), node.owned.end());
  if (node.op == Op::Let && !inside_.contains(node.index)) node.index = unowned(node.index);
  const int walks = walks_;
  if (node.loop >= 0) ++walks_;
  for (NodeId& argument : node.args) argument = copy(argument);
  walks_ = walks;
  for (const std::int32_t own : node.owned) inside_.erase(own);
  return builder_.add(std::move(node));
}

// A node stands after what it is made of, so each is looked at once, in order.
bool Slopes::moves(NodeId id) {
  if (id == poison) return false;
  const auto index = static_cast<std::size_t>(id);
  while (moves_.size() <= index) moves_.push_back(find_moves(builder_[static_cast<NodeId>(moves_.size())]));
  return moves_[index];
}

bool Slopes::find_moves(const Node& node) const {
  const auto known = [&](NodeId id) { return id != poison && moves_[static_cast<std::size_t>(id)]; };
  const Handler& handler = builder_.handler;
  if (node.type.base == Base::Bool || node.type.base == Base::Int) return false;  // they jump
  if (node.op == Op::Read) return handler.reads[static_cast<std::size_t>(node.index)].fact == Fact::TokenLogProb;
  if (node.op == Op::Let) return known(handler.lets[static_cast<std::size_t>(node.index)].value);
  if (node.op == Op::Call && builtins()[static_cast<std::size_t>(node.index)].name == "detach") return false;
  // The element of a vector of the policy's own is not among the operands: its loop knows the vector.
  const bool element = node.op == Op::Element && node.index < 0;
  if (element) return known(handler.loops[static_cast<std::size_t>(node.loop)].source);
  return std::any_of(node.args.begin(), node.args.end(), known);
}

NodeId Slopes::of_let(std::int32_t let) {
  const std::int32_t plain = unowned(let);
  const auto known = let_slopes_.find(plain);
  if (known != let_slopes_.end()) return known->second;
  const Let original = builder_.handler.lets[static_cast<std::size_t>(plain)];
  const NodeId value = slope(original.value);
  if (value == poison || value == flat) return let_slopes_[plain] = value;
  const std::int32_t held = builder_.let("slope of " + original.name, value);
  return let_slopes_[plain] = held;
}

NodeId Slopes::choose(NodeId condition, NodeId yes, NodeId no, Span span) {
  if (yes == poison || no == poison) return poison;
  if (yes == flat && no == flat) return flat;
  return real(Op::If, span, {condition, yes == flat ? number(0, span) : yes, no == flat ? number(0, span) : no});
}

// The rules of differentiation, over what moves with `t.logprob`. Counts and truths do not: they jump.
NodeId Slopes::slope(NodeId id) {
  if (id == poison) return poison;
  const Node node = builder_[id];
  const Span span = node.span;
  if (node.type.base != Base::Real || !moves(id)) return flat;
  if (stack_ends()) return policy_.too_deep_for_stack(span);
  const auto of = [&](std::size_t argument) { return slope(node.args[argument]); };
  switch (node.op) {
    case Op::Read: return number(1, span);
    case Op::Let: {
      const NodeId held = of_let(node.index);
      if (held == poison || held == flat) return held;
      return builder_.make(Op::Let, type_, span, {}, held);
    }
    case Op::Scope:
    case Op::Assume:
    case Op::ToReal: return of(0);
    case Op::Negate: {
      const NodeId inner = of(0);
      return inner == flat || inner == poison ? inner : real(Op::Negate, span, {inner});
    }
    case Op::Add:
    case Op::Subtract: {
      const NodeId left = of(0);
      const NodeId right = of(1);
      if (left == poison || right == poison) return poison;
      if (right == flat) return left;
      if (left == flat) return node.op == Op::Add ? right : real(Op::Negate, span, {right});
      return real(node.op, span, {left, right});
    }
    case Op::Multiply:
    case Op::Divide: {
      const NodeId left = of(0);
      const NodeId right = of(1);
      if (left == poison || right == poison) return poison;
      if (node.op == Op::Divide) {  // (a' − (a / b) b') / b
        NodeId above = right == flat ? flat : scaled(copy(id), right, span);
        if (left == flat && above == flat) return flat;
        above = above == flat ? left : left == flat ? real(Op::Negate, span, {above}) : real(Op::Subtract, span, {left, above});
        return real(Op::Divide, span, {above, copy(node.args[1])});
      }
      const NodeId first = left == flat ? flat : scaled(left, copy(node.args[1]), span);
      const NodeId second = right == flat ? flat : scaled(copy(node.args[0]), right, span);
      if (first == flat || second == flat) return first == flat ? second : first;
      return real(Op::Add, span, {first, second});
    }
    case Op::If: {
      const NodeId yes = of(1);
      const NodeId no = of(2);
      return yes == flat && no == flat ? flat : choose(copy(node.args[0]), yes, no, span);
    }
    case Op::Coalesce: {
      const NodeId there = of(0);
      const NodeId else_ = of(1);
      Type truth;
      truth.base = Base::Bool;
      const NodeId missing = builder_.make(Op::IsUndefined, truth, span, {copy(node.args[0])});
      return choose(missing, else_, there, span);
    }
    case Op::Call: return call(id);
    default: break;
  }
  policy_.error("E0325", span, "this moves with `t.logprob`, and has no slope", "training could not follow it",
                "write it with + - * /, min, max, clamp, abs, exp, log, sqrt, pow, tanh and if, or put it into `detach(…)`");
  return poison;
}

NodeId Slopes::call(NodeId id) {
  const Node node = builder_[id];
  const Span span = node.span;
  const std::string_view name = builtins()[static_cast<std::size_t>(node.index)].name;
  const auto again = [&](std::size_t argument) { return copy(node.args[argument]); };
  const auto chain = [&](NodeId outer) {
    const NodeId inner = slope(node.args[0]);
    return inner == poison || inner == flat ? inner : scaled(outer, inner, span);
  };
  if (name == "detach") return flat;
  if (name == "within") return slope(node.args[0]);
  if (name == "exp") return chain(copy(id));
  if (name == "log") return chain(real(Op::Divide, span, {number(1, span), again(0)}));
  if (name == "sqrt") return chain(real(Op::Divide, span, {number(0.5, span), copy(id)}));
  if (name == "tanh") {
    return chain(real(Op::Subtract, span, {number(1, span), real(Op::Multiply, span, {copy(id), copy(id)})}));
  }
  if (name == "abs") {
    const NodeId below = choose(compare(Op::Less, again(0), number(0, span), span), number(-1, span), number(0, span), span);
    return chain(choose(compare(Op::Greater, again(0), number(0, span), span), number(1, span), below, span));
  }
  if (name == "min" || name == "max") {
    const Op first = name == "min" ? Op::LessEqual : Op::GreaterEqual;
    return choose(compare(first, again(0), again(1), span), slope(node.args[0]), slope(node.args[1]), span);
  }
  if (name == "clamp") {
    const NodeId inside = choose(compare(Op::Greater, again(0), again(2), span), slope(node.args[2]), slope(node.args[0]), span);
    return choose(compare(Op::Less, again(0), again(1), span), slope(node.args[1]), inside, span);
  }
  if (name == "pow" && !moves(node.args[1])) {  // e base^(e − 1)
    const NodeId less = real(Op::Subtract, span, {again(1), number(1, span)});
    const NodeId power = builder_.make(Op::Call, type_, span, {again(0), less}, node.index);
    return chain(scaled(again(1), power, span));
  }
  policy_.error("E0325", span, "`" + std::string(name) + "` of something that moves with `t.logprob` has no slope",
                "training could not follow it",
                "write it with + - * /, min, max, clamp, abs, exp, log, sqrt, pow, tanh and if, or put it into `detach(…)`");
  return poison;
}

}  // namespace allot::lang::checker
