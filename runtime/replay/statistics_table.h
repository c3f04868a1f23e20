// A back-test on a table of statistics: a policy's gate asked about groups of which only numbers are left.
//
// The decision is the policy's own: its handler is evaluated with the table's numbers in the place of the facts it
// reads. A fact that the table does not have is an error, never a guess.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/replay/mapping.h"
#include "runtime/replay/report.h"

namespace allot::replay {

// Only `turn` points of a group are asked: `turn N` in ascending order of N, `every turn` at each turn the table has.
Result<Report> replay_table(const lang::Program& program, const std::vector<lang::Cell>& parameters, const Csv& csv,
                            const Mapping& mapping);

}  // namespace allot::replay
