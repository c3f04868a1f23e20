#include "compiler/depth.h"

#include <algorithm>
#include <vector>

namespace allot::compiler {
namespace {

using lang::Handler;
using lang::Node;
using lang::NodeId;
using lang::Op;

std::vector<NodeId> children(const Handler& handler, const Node& node) {
  std::vector<NodeId> all = node.args;
  if (node.op == Op::Let) all.push_back(handler.lets[static_cast<std::size_t>(node.index)].value);
  if (node.loop >= 0 && (node.op == Op::Reduce || node.op == Op::Map || node.op == Op::Allot)) {
    const NodeId source = handler.loops[static_cast<std::size_t>(node.loop)].source;
    if (source >= 0) all.push_back(source);
  }
  return all;
}

constexpr int unseen = 0;
constexpr int open = -1;

// Depth-first with a stack of its own: the question is whether recursion is safe.
int measure(const Handler& handler, NodeId root, std::vector<int>& depths) {
  std::vector<NodeId> stack{root};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    int& own = depths[static_cast<std::size_t>(id)];
    if (own > 0) {
      stack.pop_back();
      continue;
    }
    const std::vector<NodeId> all = children(handler, handler.nodes[static_cast<std::size_t>(id)]);
    if (own == unseen) {
      own = open;
      for (const NodeId child : all) {
        const int known = depths[static_cast<std::size_t>(child)];
        if (known == unseen) stack.push_back(child);
        if (known == open) return max_depth + 1;
      }
      continue;
    }
    int deepest = 0;
    for (const NodeId child : all) deepest = std::max(deepest, depths[static_cast<std::size_t>(child)]);
    own = deepest + 1;
    if (own > max_depth) return max_depth + 1;
    stack.pop_back();
  }
  return depths[static_cast<std::size_t>(root)];
}

}  // namespace

int depth(const Handler& handler) {
  std::vector<int> depths(handler.nodes.size(), unseen);
  int deepest = 0;
  for (std::size_t id = 0; id < handler.nodes.size() && deepest <= max_depth; ++id) {
    deepest = std::max(deepest, measure(handler, static_cast<NodeId>(id), depths));
  }
  return deepest;
}

}  // namespace allot::compiler
