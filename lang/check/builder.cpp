#include "lang/check/builder.h"

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
  if (!folded.fault.empty()) {
    policy_.error("E0230", node.span, "this is sure to fault: " + folded.fault, "computed from literals alone");
    return poison;
  }
  handler.nodes.push_back(std::move(node));
  values_.push_back(folded.value);
  return static_cast<NodeId>(handler.nodes.size()) - 1;
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

// Loops and lets that lie inside the copied part are copied with it; those outside stay shared.
struct Builder::Copy {
  std::map<int, int> loops;
  std::map<int, int> lets;
  int from = -1;
  NodeId element = -1;
};

NodeId Builder::copy(NodeId id, int from, int to, NodeId element) {
  Copy state;
  if (from >= 0) state.loops[from] = to;
  state.from = from;
  state.element = element;
  return copy(id, state);
}

NodeId Builder::copy(NodeId id, Copy& state) {
  if (id == poison) return poison;
  Node node = (*this)[id];
  if (node.op == Op::Element && node.index < 0 && node.loop == state.from && state.element != poison) {
    return copy(state.element);
  }
  if ((node.op == Op::Reduce || node.op == Op::Map || node.op == Op::Allot) && !state.loops.contains(node.loop)) {
    const Loop inner = handler.loops[static_cast<std::size_t>(node.loop)];
    const NodeId source = inner.source == -1 ? -1 : copy(inner.source, state);
    state.loops[node.loop] = loop(inner.scope, source);
  }
  if (node.op == Op::Allot) {
    Allotment allotment = handler.allotments[static_cast<std::size_t>(node.index)];
    const int counts = loop(Scope::Single);
    state.loops[allotment.counts] = counts;
    allotment.counts = counts;
    node.index = this->allotment(std::move(allotment));
  }
  if (node.loop >= 0) {
    if (const auto it = state.loops.find(node.loop); it != state.loops.end()) node.loop = it->second;
  }
  for (std::int32_t& owned : node.owned) {
    const Let original = handler.lets[static_cast<std::size_t>(owned)];
    const int fresh = let(original.name, copy(original.value, state));
    state.lets[owned] = fresh;
    owned = fresh;
  }
  if (node.op == Op::Let) {
    if (const auto it = state.lets.find(node.index); it != state.lets.end()) node.index = it->second;
  }
  for (NodeId& arg : node.args) arg = copy(arg, state);
  return add(std::move(node));
}

std::optional<NodeId> Builder::element(NodeId vector, int loop, NodeId source) {
  const Node node = (*this)[vector];
  const bool same_let =
      source != -1 && node.op == Op::Let && (*this)[source].op == Op::Let && (*this)[source].index == node.index;
  if (vector == source || same_let) return make(Op::Element, element_of(node.type), node.span, {}, -1, loop);
  switch (node.op) {
    case Op::Column:
      return make(Op::Element, element_of(node.type), node.span, {}, node.index, loop);
    case Op::Let:
      return element(handler.lets[static_cast<std::size_t>(node.index)].value, loop, source);
    case Op::Map: {
      if (node.args.size() > 1) return std::nullopt;  // a `where` leaves gaps: positions no longer agree
      const Loop inner = handler.loops[static_cast<std::size_t>(node.loop)];
      NodeId replaced = -1;
      if (inner.source != -1) {
        const std::optional<NodeId> of_source = element(inner.source, loop, source);
        if (!of_source) return std::nullopt;
        replaced = *of_source;
      }
      return copy(node.args[0], node.loop, loop, replaced);
    }
    case Op::If: {
      const std::optional<NodeId> then = element(node.args[1], loop, source);
      const std::optional<NodeId> otherwise = element(node.args[2], loop, source);
      if (!then || !otherwise) return std::nullopt;
      return make(Op::If, element_of(node.type), node.span, {copy(node.args[0]), *then, *otherwise});
    }
    default:
      return std::nullopt;
  }
}

}  // namespace allot::lang::checker
