// The slope of a loss: how it changes with `t.logprob`, as nodes beside those of the loss (forward differentiation).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "lang/check/builder.h"

namespace allot::lang::checker {

// Of one handler. Where a value has two slopes (a tie of `min` and `max`, an end of `clamp`) it is that of the first
// operand, and inside the range at its ends.
class Slopes {
 public:
  Slopes(Policy& policy, Builder& builder) : policy_(policy), builder_(builder) {}

  // A real: d loss / d t.logprob. Poison after an error, which names what has no slope.
  NodeId of(NodeId loss);

 private:
  NodeId slope(NodeId id);  // `flat`: it is 0 whatever is read
  NodeId call(NodeId id);
  NodeId of_let(std::int32_t let);
  NodeId copy(NodeId id);   // the same value once more: nodes are a tree
  NodeId choose(NodeId condition, NodeId yes, NodeId no, Span span);
  NodeId real(Op op, Span span, std::vector<NodeId> args) { return builder_.make(op, type_, span, std::move(args)); }
  NodeId compare(Op op, NodeId a, NodeId b, Span span);
  NodeId number(double value, Span span);
  NodeId scaled(NodeId factor, NodeId by, Span span) { return real(Op::Multiply, span, {factor, by}); }
  bool moves(NodeId id);  // whether training follows a read of `t.logprob` anywhere in it
  bool find_moves(const Node& node) const;
  std::int32_t unowned(std::int32_t let);

  static constexpr NodeId flat = -2;

  Policy& policy_;
  Builder& builder_;
  Type type_ = plain_real();
  std::map<std::int32_t, std::int32_t> unowned_;  // lets of scopes, and their copies outside
  std::map<std::int32_t, NodeId> let_slopes_;     // by let: the let that holds its slope, or `flat`
  std::vector<bool> moves_;                       // by node, as far as was asked
  int walks_ = 0;                                 // how many loops stand around what is copied
  std::set<std::int32_t> inside_;                 // lets of scopes in them: fresh for each element, so they stay

  static Type plain_real();
};

}  // namespace allot::lang::checker
