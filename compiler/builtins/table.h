// From the name of a built-in (lang/builtins.h) to the function that computes it.
#pragma once

#include <span>
#include <string_view>

#include "compiler/builtins/value.h"
#include "lang/builtins.h"

namespace allot::compiler {

inline constexpr std::size_t most_arguments = 8;

// nullptr where there is none; a test asserts that every row of lang::builtins() has one.
Function implementation(std::string_view name);

// All of lang::builtins(), by index.
std::span<const Function> implementations();

// A call as the engines see it: an undefined argument gives an undefined result without a call; a real result that is
// not finite is a fault.
FaultKind call(Function function, const Value* arguments, std::size_t count, Value& result, Scratch& scratch) noexcept;

// The value of an argument that the author left out.
Value fallback(const lang::Argument& argument);

}  // namespace allot::compiler
