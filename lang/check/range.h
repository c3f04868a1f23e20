// Where a value can lie, as far as its kind tells: to find conditions that never change, and the signs of factors.
#pragma once

#include <limits>
#include <vector>

#include "lang/check/builder.h"

namespace allot::lang::checker {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// Of one handler. Each node is looked at once, in order: it stands after what it is made of.
class Ranges {
 public:
  Ranges(const Policy& policy, const Builder& builder) : policy_(policy), builder_(builder) {}
  // The same, where the position of `loop`, of which nodes from `first` on may be made, is known to lie in `range`.
  Ranges(Ranges& outer, NodeId first, int loop, Interval range)
      : policy_(outer.policy_), builder_(outer.builder_), outer_(&outer), first_(first), loop_(loop), position_(range) {}

  // Of a number; of a vector, of its elements. What is not known is everything.
  Interval of(NodeId id);

 private:
  Interval find(NodeId id);
  Interval call(const Node& node);
  Interval fact(const Node& node) const;

  const Policy& policy_;
  const Builder& builder_;
  Ranges* outer_ = nullptr;  // for the nodes before `first_`
  NodeId first_ = 0;
  int loop_ = -1;
  Interval position_;
  std::vector<Interval> known_;  // by node, from `first_` on
};

// The fact that a Read or an Element of a column looks at.
const ReadKey& key_of(const Builder& builder, const Node& node);

}  // namespace allot::lang::checker
