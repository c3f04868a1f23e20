// Where a value can lie, as far as its kind tells: to find conditions that never change, and the signs of factors.
#pragma once

#include <limits>
#include <map>

#include "lang/check/builder.h"

namespace allot::lang::checker {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

class Ranges {
 public:
  Ranges(const Policy& policy, const Builder& builder) : policy_(policy), builder_(builder) {}

  // Of a number; of a vector, of its elements. What is not known is everything.
  Interval of(NodeId id);
  // The position of a loop, where more is known of it than that it is 0 or more.
  void position(int loop, Interval range) { positions_[loop] = range; }

 private:
  Interval find(NodeId id);
  Interval call(const Node& node);
  Interval fact(const Node& node) const;

  const Policy& policy_;
  const Builder& builder_;
  std::map<NodeId, Interval> known_;  // a `let` is used again and again: each node is looked at once
  std::map<int, Interval> positions_;
};

// The fact that a Read or an Element of a column looks at.
const ReadKey& key_of(const Builder& builder, const Node& node);

}  // namespace allot::lang::checker
