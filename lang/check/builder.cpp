#include "lang/check/builder.h"

#include <algorithm>
#include <utility>

#include "lang/check/fold.h"
#include "lang/check/units.h"
#include "lang/limits.h"

namespace allot::lang::checker {

NodeId Builder::add(Node node) {
  if (policy_.too_large) return poison;
  if (++policy_.nodes > limits.typed_nodes) {
    policy_.too_large = true;
    policy_.error("E0108", node.span, "the policy is too large once its functions stand in place of their calls",
                  "at most " + std::to_string(limits.typed_nodes) + " operations",
                  "name repeated work with `let`, or call functions less deeply");
    return poison;
  }
  std::vector<Cell> values;
  std::vector<Type> types;
  for (const NodeId arg : node.args) {
    if (const std::optional<Cell> known = value(arg)) {
      values.push_back(*known);
      types.push_back(type(arg));
    }
  }
  Folded folded;
  if (values.size() == node.args.size()) folded = fold(node, values, types);
  if (!folded.fault.empty() && dead_ == 0) {
    policy_.error("E0230", node.span, "this is sure to fault: " + folded.fault, "computed from literals alone");
    return poison;
  }
  const int loops = loops_in(node);
  if (loops + around_ > limits.loops) {
    policy_.error("E0007", node.span, "loops nested more than " + std::to_string(limits.loops) + " deep", "",
                  "compute the inner part once, outside of the loop, and name it with `let`");
    return poison;
  }
  deepest_ = std::max(deepest_, loops + around_);
  handler.nodes.push_back(std::move(node));
  values_.push_back(folded.value);
  loops_.push_back(loops);
  return static_cast<NodeId>(handler.nodes.size()) - 1;
}

// What a `let` names is computed once, so its loops count where it is made; those of a function's argument count where
// the function stands, which computes it anew.
int Builder::loops_in(const Node& node) const {
  const auto of = [&](NodeId id) { return id == poison ? 0 : loops_[static_cast<std::size_t>(id)]; };
  int inner = 0;
  for (const NodeId arg : node.args) inner = std::max(inner, of(arg));
  for (const std::int32_t let : node.owned)
    inner = std::max(inner, of(handler.lets[static_cast<std::size_t>(let)].value));
  const bool loop = node.op == Op::Reduce || node.op == Op::Map || node.op == Op::Allot;
  if (!loop || node.loop < 0) return inner;
  return std::max(inner + 1, of(handler.loops[static_cast<std::size_t>(node.loop)].source));
}

NodeId Builder::make(Op op, Type type, Span span, std::vector<NodeId> args, std::int32_t index, std::int32_t loop) {
  for (const NodeId arg : args) {
    if (arg == poison) return poison;
  }
  Node node;
  node.op = op;
  node.type = type;
  node.span = span;
  node.args = std::move(args);
  node.index = index;
  node.loop = loop;
  return add(std::move(node));
}

NodeId Builder::constant(Cell cell, Type type, Span span) {
  Node node;
  node.cell = cell;
  node.type = type;
  node.span = span;
  return add(std::move(node));
}

std::optional<Cell> Builder::value(NodeId id) const {
  return id == poison ? std::nullopt : values_[static_cast<std::size_t>(id)];
}

bool Builder::leaf(NodeId id) const {
  const Node& node = (*this)[id];
  return node.args.empty() && node.owned.empty() && node.op != Op::ListOf;
}

int Builder::unique(std::vector<ReadKey>& keys, ReadKey key) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].fact == key.fact && keys[i].scope == key.scope && keys[i].arguments == key.arguments) {
      return static_cast<int>(i);
    }
  }
  keys.push_back(std::move(key));
  return static_cast<int>(keys.size()) - 1;
}

int Builder::loop(Scope scope, NodeId source) {
  handler.loops.push_back({scope, source});
  return static_cast<int>(handler.loops.size()) - 1;
}

int Builder::allotment(Allotment allotment) {
  handler.allotments.push_back(std::move(allotment));
  return static_cast<int>(handler.allotments.size()) - 1;
}

int Builder::let(std::string name, NodeId value) {
  handler.lets.push_back({std::move(name), value});
  return static_cast<int>(handler.lets.size()) - 1;
}

NodeId Builder::element(NodeId vector, int loop, NodeId source) {
  const Node node = (*this)[vector];
  const bool same_let =
      source != -1 && node.op == Op::Let && (*this)[source].op == Op::Let && (*this)[source].index == node.index;
  const Type type = element_of(node.type);
  if (vector == source || same_let) return make(Op::Element, type, node.span, {}, -1, loop);
  if (node.op == Op::Column) return make(Op::Element, type, node.span, {}, node.index, loop);
  if (node.op == Op::Let) {
    const Node value = (*this)[handler.lets[static_cast<std::size_t>(node.index)].value];
    if (value.op == Op::Column && !value.type.matrix()) {
      return make(Op::Element, type, node.span, {}, value.index, loop);
    }
  }
  const NodeId position = make(Op::Position, plain(Base::Int), node.span, {}, -1, loop);
  return make(Op::At, type, node.span, {vector, position});
}

}  // namespace allot::lang::checker
