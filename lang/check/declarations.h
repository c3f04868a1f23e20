// What stands outside of handlers: parameters, state, budgets, refill, functions, the hit condition.
#pragma once

#include "lang/check/policy.h"

namespace allot::lang::checker {

void declare_unread(Policy& policy);  // names of items that could not be read: nobody who uses them is blamed
void declare_parameters(Policy& policy);
void declare_states(Policy& policy);
void declare_inputs(Policy& policy);     // after the states: they are state too
void declare_functions(Policy& policy);  // names, recursion, bodies
void declare_budgets(Policy& policy);    // after the parameters
void declare_refill(Policy& policy);
void declare_hit(Policy& policy);
void check_migrations(Policy& policy);  // after the functions
void check_tests(Policy& policy);  // names of parameters and points; the tests themselves run elsewhere

// True where `name` was not declared before, nor is a fact of the run; says so otherwise. `kind` is what it is to be.
bool fresh(Policy& policy, const tree::Name& name, std::string_view kind);

// A value known from the text alone, of the expected type; nothing after an error.
std::optional<Cell> constant(Policy& policy, tree::ExprId id, const Type& expected, std::string_view role);
// The same of a vector or matrix too: Type::cells() of them, row by row.
std::optional<std::vector<Cell>> constants(Policy& policy, tree::ExprId id, const Type& expected,
                                           std::string_view role);

// `in LOW..HIGH` of a type, or of the elements of a vector type; nothing where there is none, or after an error.
struct Range {
  double low = 0;
  double high = 0;
};
std::optional<Range> read_range(Policy& policy, const tree::TypeName& name, Type type);

// Whether a number lies in low..high; says so where it does not. `what` begins the message.
bool within(Policy& policy, const Cell& value, const Type& type, double low, double high, Span span,
            const std::string& what);

}  // namespace allot::lang::checker
