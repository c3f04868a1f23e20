// Sorting positions by value, ties to the lower position.
#pragma once

#include <span>

#include "compiler/builtins/value.h"

namespace allot::compiler::builtins {

enum class Direction { Ascending, Descending };

struct Positions {
  bool ok = false;   // false: the scratch is exhausted
  std::span<std::int64_t> values;
};
// Of the defined elements.
// Equal elements go by position, or where `ties` is 0 or more by an order that this number draws.
Positions sorted_positions(const Value& vector, Direction direction, Scratch& scratch, double ties = -1) noexcept;

// Ints as the result of a built-in.
FaultKind give(Value& result, std::span<const std::int64_t> values, Scratch& scratch) noexcept;

}  // namespace allot::compiler::builtins
