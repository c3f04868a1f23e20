// Machine code for many rows at once.
#pragma once

#include "compiler/kernel.h"

namespace allot::compiler::native {

// nullptr where the handler cannot be if-converted: it looks at vectors, remembers, or calls what is not inlined.
Result<std::unique_ptr<Kernel>> compile_kernel(const lang::Program& program, int handler, const BatchShape& shape);

}  // namespace allot::compiler::native
