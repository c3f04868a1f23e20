// How values reach a built-in: the same for the evaluator and for machine code, which builds these records itself.
#pragma once

#include <cstddef>

#include "compiler/executable.h"
#include "lang/types.h"

namespace allot::compiler {

struct Value {
  Cell cell;                            // the scalar; of a vector `defined` alone counts
  Column column;                        // the elements of a vector
  lang::Base base = lang::Base::Real;   // of the scalar or the elements
  bool vector = false;
};
static_assert(sizeof(Value) == 56 && offsetof(Value, column) == 24 && offsetof(Value, base) == 48 &&
              offsetof(Value, vector) == 52);

// Arguments are as many as the row of lang/builtins.h has, each a defined scalar or a vector (whose elements may be
// undefined). `result.base` and `result.vector` say what the caller awaits; the rest is for the function to fill.
// None, or why there is no result. Vectors are made in `scratch`.
using Function = FaultKind (*)(const Value* arguments, Value& result, Scratch& scratch) noexcept;

}  // namespace allot::compiler
