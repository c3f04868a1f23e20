// Builds the nodes of one handler, and knows which of them are constants.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/check/policy.h"

namespace allot::lang::checker {

class Builder {
 public:
  explicit Builder(Policy& policy) : policy_(policy) {}

  // Adds a node. One that is sure to fault is an error at its place, and poison; so is one too many.
  NodeId add(Node node);
  NodeId make(Op op, Type type, Span span, std::vector<NodeId> args = {}, std::int32_t index = -1,
              std::int32_t loop = -1);
  NodeId constant(Cell cell, Type type, Span span);

  // Poison has a node too, without meaning, so that a limit met half-way does no harm.
  const Node& operator[](NodeId id) const {
    return id == poison ? nothing_ : handler.nodes[static_cast<std::size_t>(id)];
  }
  const Type& type(NodeId id) const { return (*this)[id].type; }
  void retype(NodeId id, Type type) {
    if (id != poison) handler.nodes[static_cast<std::size_t>(id)].type = type;
  }
  std::optional<Cell> value(NodeId id) const;  // of a constant
  bool leaf(NodeId id) const;                  // cheap, without operands: may be repeated

  int read(ReadKey key) { return unique(handler.reads, std::move(key)); }
  int column(ReadKey key) { return unique(handler.columns, std::move(key)); }
  int loop(Scope scope, NodeId source = -1);
  int allotment(Allotment allotment);
  int let(std::string name, NodeId value);

  // A copy of `id` in which `from` (a loop) has become `to`. `element` stands for the element of `from`'s own source.
  NodeId copy(NodeId id, int from = -1, int to = -1, NodeId element = -1);
  // The element of a vector at the position of `loop`, whose source is `source`; nothing where it cannot be told.
  std::optional<NodeId> element(NodeId vector, int loop, NodeId source);

  Handler handler;

 private:
  struct Copy;
  NodeId copy(NodeId id, Copy& state);
  static int unique(std::vector<ReadKey>& keys, ReadKey key);

  Policy& policy_;
  const Node nothing_;
  std::vector<std::optional<Cell>> values_;  // by node
};

}  // namespace allot::lang::checker
