#include "lang/check/concavity.h"

#include <cmath>

#include "common/stack.h"
#include "lang/builtins.h"

namespace allot::lang::checker {
namespace {

// A curve over the count. A line is concave and convex; a constant is a line that neither rises nor falls.
struct Shape {
  bool constant = false;
  bool concave = false;
  bool convex = false;
  bool rises = false;  // never falls
  bool falls = false;  // never rises
};

constexpr Shape anything{};
constexpr Shape fixed{true, true, true, true, true};

Shape flipped(const Shape& a) {
  return {a.constant, a.convex, a.concave, a.falls, a.rises};
}

Shape sum(const Shape& a, const Shape& b) {
  return {a.constant && b.constant, a.concave && b.concave, a.convex && b.convex, a.rises && b.rises,
          a.falls && b.falls};
}

// f of a curve, where f itself bends and moves like `f`.
Shape composed(const Shape& f, const Shape& inner) {
  const bool line = inner.concave && inner.convex;
  Shape result;
  result.concave = f.concave && (line || (f.rises && inner.concave) || (f.falls && inner.convex));
  result.convex = f.convex && (line || (f.rises && inner.convex) || (f.falls && inner.concave));
  result.rises = (f.rises && inner.rises) || (f.falls && inner.falls);
  result.falls = (f.rises && inner.falls) || (f.falls && inner.rises);
  return result;
}

class Shapes {
 public:
  Shapes(const Policy& policy, const Builder& builder, Ranges& ranges, int counts, NodeId first, Interval range)
      : policy_(policy), builder_(builder), ranges_(ranges, first, counts, range), counts_(counts), first_(first) {}

  Shape of(NodeId id) {
    if (id < first_) return fixed;  // made before there was a count
    if (stack_ends()) return stopped(id, anything);
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    return known_[id] = find(id);
  }

  std::string obstacle;
  double start = -1;

 private:
  Shape find(NodeId id) {
    const Node& node = builder_[id];
    switch (node.op) {
      case Op::Position:
        return node.loop == counts_ ? Shape{false, true, true, true, false} : fixed;
      case Op::Let:
        return of(builder_.handler.lets[static_cast<std::size_t>(node.index)].value);
      case Op::Assume:
      case Op::ToReal:
      case Op::Scope:
        return of(node.args[0]);
      default:
        break;
    }
    if (constant(node)) return fixed;
    switch (node.op) {
      case Op::Negate:
        return flipped(of(node.args[0]));
      case Op::Add:
        return sum(of(node.args[0]), of(node.args[1]));
      case Op::Subtract:
        return sum(of(node.args[0]), flipped(of(node.args[1])));
      case Op::Multiply:
        return of(node.args[0]).constant ? scaled(node.args[0], of(node.args[1]))
                                         : scaled(node.args[1], of(node.args[0]));
      case Op::Divide:
        return quotient(node);
      case Op::If:
        return of(node.args[0]).constant ? sum(of(node.args[1]), of(node.args[2])) : stopped(id, anything);
      case Op::Call:
        return call(id);
      default:
        return stopped(id, anything);
    }
  }

  bool constant(const Node& node) {
    for (const NodeId arg : node.args) {
      if (!of(arg).constant) return false;
    }
    if (node.loop < 0 || (node.op != Op::Reduce && node.op != Op::Map && node.op != Op::Allot)) return true;
    const NodeId source = builder_.handler.loops[static_cast<std::size_t>(node.loop)].source;
    return source == poison || of(source).constant;
  }

  // The first thing that stands in the way is the one that is told.
  Shape stopped(NodeId id, const Shape& shape) {
    if (obstacle.empty()) obstacle = "no rule tells how " + text(id) + " bends in the count";
    return shape;
  }

  std::string text(NodeId id) const { return quoted(policy_.text(builder_[id].span)); }

  Shape scaled(NodeId factor, const Shape& shape) {
    if (!of(factor).constant) {
      if (obstacle.empty()) obstacle = "both factors of a product look at the count";
      return anything;
    }
    const Interval range = ranges_.of(factor);
    if (range.low >= 0) return {false, shape.concave, shape.convex, shape.rises, shape.falls};
    if (range.high <= 0) return flipped({false, shape.concave, shape.convex, shape.rises, shape.falls});
    if (shape.concave && shape.convex) return {false, true, true, false, false};
    if (obstacle.empty()) obstacle = "the sign of " + text(factor) + " is not known";
    return anything;
  }

  Shape quotient(const Node& node) {
    const Shape& above = of(node.args[0]);
    const Shape& below = of(node.args[1]);
    const Interval range = ranges_.of(node.args[1]);
    if (below.constant) {
      if (range.low >= 0) return {false, above.concave, above.convex, above.rises, above.falls};
      if (range.high <= 0) return flipped({false, above.concave, above.convex, above.rises, above.falls});
    } else if (above.constant && range.low > 0) {
      return scaled(node.args[0], composed({false, false, true, false, true}, below));
    }
    if (obstacle.empty()) obstacle = "it is not known that " + text(node.args[1]) + " stays above 0";
    return anything;
  }

  Shape call(NodeId id) {
    const Node& node = builder_[id];
    const Builtin& row = builtins()[static_cast<std::size_t>(node.index)];
    if (row.name == "min" || row.name == "max") {
      const Shape both = sum(of(node.args[0]), of(node.args[1]));
      return row.name == "min" ? Shape{false, both.concave, false, both.rises, both.falls}
                               : Shape{false, false, both.convex, both.rises, both.falls};
    }
    if (row.name == "pow") return power(id);
    const Curve& curve = row.curve;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      if (static_cast<int>(i) != curve.argument && !of(node.args[i]).constant) return stopped(id, anything);
    }
    if (curve.bend == Bend::None) return stopped(id, anything);
    const NodeId argument = node.args[static_cast<std::size_t>(curve.argument)];
    if (const double low = ranges_.of(argument).low; low < curve.from) {
      if (obstacle.empty()) {
        obstacle = quoted(row.name) + (curve.bend == Bend::Concave ? " is concave" : " is convex") + " from " +
                   std::to_string(static_cast<long long>(curve.from)) + " on, and here it may get less";
        if (builder_[argument].op == Op::Position) start = curve.from;
      }
      return anything;
    }
    const bool concave = curve.bend == Bend::Concave;
    return composed({false, concave, !concave, curve.rises, !curve.rises}, of(argument));
  }

  // a^n is convex for a >= 0; n^a is convex for a >= 1 and a <= 0, concave in between.
  Shape power(NodeId id) {
    const Node& node = builder_[id];
    const Interval base = ranges_.of(node.args[0]);
    const Interval exponent = ranges_.of(node.args[1]);
    if (of(node.args[0]).constant && base.low >= 0 && exponent.low >= 0) {
      return composed({false, false, true, base.low >= 1, base.high <= 1}, of(node.args[1]));
    }
    if (of(node.args[1]).constant && base.low >= 0) {
      if (exponent.low >= 1) return composed({false, false, true, true, false}, of(node.args[0]));
      if (exponent.low >= 0 && exponent.high <= 1) return composed({false, true, false, true, false}, of(node.args[0]));
      if (exponent.high <= 0 && base.low > 0) return composed({false, false, true, false, true}, of(node.args[0]));
    }
    return stopped(id, anything);
  }

  const Policy& policy_;
  const Builder& builder_;
  Ranges ranges_;
  int counts_;
  NodeId first_;
  std::map<NodeId, Shape> known_;
};

}  // namespace

Concavity concavity(const Policy& policy, const Builder& builder, Ranges& ranges, NodeId utility, int counts,
                    NodeId first, Interval range) {
  Shapes shapes(policy, builder, ranges, counts, first, range);
  const Shape shape = shapes.of(utility);
  if (shape.constant) return {true, "the utility does not look at the count", -1};
  if (shape.concave) return {true, "the utility is concave in the count", -1};
  const bool bends_wrong = shapes.obstacle.empty();
  return {false, bends_wrong ? "the utility is convex, or neither, in the count" : shapes.obstacle, shapes.start};
}

}  // namespace allot::lang::checker
