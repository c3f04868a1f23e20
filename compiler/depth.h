// How deep the typed tree of a handler is, lets included. Both engines walk it by recursion.
#pragma once

#include "lang/program.h"

namespace allot::compiler {

// Beyond it a handler is refused by the compiler and faults (OutOfMemory) in the evaluator. Above what the checker's
// limits allow in one expression (chain_terms + depth), so it takes chains upon chains of `let` to reach it; a level
// costs a few hundred bytes of stack. A thread that has less than that is told too (common/stack.h).
inline constexpr int max_depth = 5000;

// Levels from the deepest expression of a rule or an effect. max_depth + 1 where it is deeper, or where a `let` needs
// itself (the checker never makes such a program).
int depth(const lang::Handler& handler);

}  // namespace allot::compiler
