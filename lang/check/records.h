// What tests give: records, and the values in them.
#pragma once

#include <string_view>

#include "lang/check/policy.h"

namespace allot::lang::checker {

// Whether tests have records of that word: `group { … }`.
bool is_record(std::string_view word);
// The fields of a record, each once, and what they hold.
void check_record(Policy& policy, const tree::Expr& record);
// Whether the expression is a value as runtime/trial reads them, which computes nothing; says so where it is not.
bool check_written_out(Policy& policy, tree::ExprId id);

}  // namespace allot::lang::checker
