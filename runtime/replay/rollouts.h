// A back-test on logged rollouts: each group is played again turn by turn, and the policy is asked as in a run.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/replay/report.h"

namespace allot::replay {

// Asked are the `turn` points, in lock-step (when every live rollout has executed N turns), and `finish` where no turn
// stopped the group. A group is judged when all its planned rollouts were read, else at the end of the file, so that
// memory holds the unfinished groups alone. State per prompt and per run stays at its initial value.
Result<Report> replay_rollouts(std::shared_ptr<const lang::Program> program, const std::vector<lang::Cell>& parameters,
                               const std::filesystem::path& file);

}  // namespace allot::replay
