// Random programs over single values alone, as a batch decides them side by side.
#pragma once

#include "tests/compiler/random_program.h"

namespace allot::compiler::test {

// Rules with numbers, lets, reports; now and then a call that no lane makes.
Program scalar_program(std::uint64_t seed);

// One value a state. Wild now and then: the largest and smallest numbers, what the type says is there left out.
Memory scalar_memory(const Program& program, std::uint64_t seed);

// A number of the environment, to widen the search.
std::uint64_t seed_of(const char* name, std::uint64_t otherwise);

}  // namespace allot::compiler::test
