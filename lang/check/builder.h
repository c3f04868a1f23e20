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

  // Adds a node. One that is sure to fault is an error at its place, and poison; so is one too many, and a loop that
  // stands in too many others.
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

  // How many `for each` stand around what is made next.
  void within_loops(int count) { around_ = count; }

  int deepest_loop() const { return deepest_; }  // how many loops stand in each other at most

  // Between them nodes are made that are never evaluated: what would fault is no mistake there.
  void enter_dead() { ++dead_; }
  void leave_dead() { --dead_; }

  NodeId copy(NodeId leaf) { return leaf == poison ? poison : add((*this)[leaf]); }
  // The element of a vector at the position of `loop`, whose source is `source`. Anything but that source, a column and
  // a let is computed anew for each element: put it into a let first.
  NodeId element(NodeId vector, int loop, NodeId source);

  Handler handler;

 private:
  int loops_in(const Node& node) const;
  static int unique(std::vector<ReadKey>& keys, ReadKey key);

  Policy& policy_;
  int dead_ = 0;
  int around_ = 0;
  int deepest_ = 0;
  std::vector<int> loops_;  // by node: how deep the loops in it stand inside each other
  const Node nothing_;
  std::vector<std::optional<Cell>> values_;  // by node
};

}  // namespace allot::lang::checker
