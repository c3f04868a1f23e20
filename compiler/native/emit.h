// What the compiler makes of a program, as text for people.
#pragma once

#include <string>

#include "compiler/executable.h"

namespace allot::compiler {

enum class Listing { Ir, Assembly };
Result<std::string> emit(const lang::Program& program, Listing listing, Optimize level = Optimize::Full);

}  // namespace allot::compiler
