// A program on which the engines differ, made small enough to read.
#pragma once

#include <functional>

#include "tests/compiler/builder.h"

namespace allot::compiler::test {

using Differs = std::function<bool(const Program&)>;

// What is left when nothing more can be taken away so that `differs` still holds, as it must for `program`. Effects,
// rules and fields go; nodes become one of their operands, or a constant. Asks `differs` a few hundred times.
Program shrink(Program program, const Differs& differs);

// Nodes that are reachable.
std::size_t node_count(const Program& program);

}  // namespace allot::compiler::test
