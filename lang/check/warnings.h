// What is allowed and yet hardly meant.
#pragma once

#include <vector>

#include "lang/check/builder.h"
#include "lang/check/policy.h"
#include "lang/check/range.h"

namespace allot::lang::checker {

// A condition that cannot change, or that takes a mean within a range for spread (faults.md 3). `span` is where the rule
// writes it: the node may stand in a function, of another file even.
void warn_of_condition(Policy& policy, const Builder& builder, Ranges& ranges, NodeId condition, Span span);

// A `hit` condition that tells no rollout from another, or reads a name of the policy that hides a fact of the rollout.
void warn_of_hit(Policy& policy, const Builder& builder, Ranges& ranges, NodeId condition);

// Which nodes of a handler look at rewards that a `score` handler may have changed. Each is looked at once, in order: it
// stands after what it is made of.
class Shaped {
 public:
  explicit Shaped(const Builder& builder) : builder_(builder) {}
  bool looks(NodeId id);

 private:
  bool find(const Node& node) const;

  const Builder& builder_;
  std::vector<bool> known_;
};
// A rule that looks at rewards which a `score` handler of the policy has changed (W0505), once a handler.
void warn_of_shaped(Policy& policy, Shaped& shaped, NodeId condition, Span span, Point point, const std::string& handler);
// A handler whose worst case grows too fast (W0506). `depth` is how many of its loops stand in each other.
void warn_of_cost(Policy& policy, const Handler& handler, int depth, Span point);
void warn_of_unused(Policy& policy);

}  // namespace allot::lang::checker
