// Runs the `scenario` blocks of a policy: iterations over the real engine, with a driver that has no model. Rollouts end
// in the order and with the scores that are written down.
#pragma once

#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/trial/trial.h"

namespace allot::trial {

// One report a scenario, in the order of the file.
std::vector<TestReport> run_scenarios(const lang::Program& program, const Options& options);

}  // namespace allot::trial
