// How large a policy may make a group, as far as its text tells before the run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lang/program.h"

namespace allot::python {

// An upper bound of the rollouts of any group: `usual` (1 or more) where no rule of a `size` handler says otherwise.
// None where there is no bound, or where it hangs on what the run will find out.
std::optional<std::int64_t> largest_group(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                                          std::int64_t usual);

}  // namespace allot::python
