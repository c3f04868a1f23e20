// What stands outside of handlers: parameters, state, budgets, refill, functions, the hit condition.
#pragma once

#include "lang/check/policy.h"

namespace allot::lang::checker {

void declare_unread(Policy& policy);  // names of items that could not be read: nobody who uses them is blamed
void declare_parameters(Policy& policy);
void declare_states(Policy& policy);
void declare_functions(Policy& policy);  // names, recursion, bodies
void declare_budgets(Policy& policy);    // after the parameters
void declare_refill(Policy& policy);
void declare_hit(Policy& policy);
void check_tests(Policy& policy);  // names of parameters and points; the tests themselves run elsewhere

}  // namespace allot::lang::checker
