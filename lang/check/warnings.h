// What is allowed and yet hardly meant.
#pragma once

#include "lang/check/builder.h"
#include "lang/check/policy.h"

namespace allot::lang::checker {

// A condition that cannot change, or that takes a mean within a range for spread (faults.md 3).
void warn_of_condition(Policy& policy, const Builder& builder, NodeId condition);
// A rule that looks at rewards which a `score` handler of the policy has changed (W0505), once a handler.
void warn_of_shaped(Policy& policy, const Builder& builder, NodeId condition, Point point, const std::string& handler);
void warn_of_unused(Policy& policy);

}  // namespace allot::lang::checker
