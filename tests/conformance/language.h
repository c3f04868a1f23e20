// Rules of methods, written in the language and asked on a vector's input. A method never stands in C++.
#pragma once

#include <string>

#include "tests/conformance/registry.h"

namespace allot::conformance {

// The value of an expression of the language, in which `{name}` stands for the input of that name as a literal. One
// value or a list; null where it is undefined. Throws std::runtime_error with the diagnostics, or the fault.
Json asked(const std::string& expression, const Json& inputs);

// An expression or record with the inputs put in.
std::string filled(const std::string& expression, const Json& inputs);

// The inputs and more beside them; what is given last counts.
Json with(Json inputs, const Json& more);

}  // namespace allot::conformance
