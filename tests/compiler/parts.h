// What a random program is made of, by name, so that a test can tell what the engines were never compared on.
#pragma once

#include <set>
#include <string>

#include "lang/program.h"

namespace allot::compiler::test {

// "op Add", "reduction Sum", "effect Warn", "call min", "operand mask", "over Groups", "state per prompt", "solver
// Exact", "optional", "matrix", … of what is reachable.
std::set<std::string> parts_of(const lang::Program& program);

// All there is.
std::set<std::string> all_parts();

}  // namespace allot::compiler::test
