// The whole of `allot train`: for every seed a warm-up, then all arms side by side, iteration by iteration, and the
// table at the end.
#pragma once

#include <atomic>

#include "common/result.h"
#include "runtime/training/run/options.h"
#include "runtime/training/run/report.h"

namespace allot::training {

struct ExperimentResult {
  std::vector<SeedResult> seeds;
  ReportContext context;
  std::filesystem::path run;
};

// What an error means to the caller of the program.
enum class Failure {
  Run = 1,    // the policy has errors, or the run failed on its way
  Misuse = 2  // the options cannot be followed; nothing was computed
};

// `interrupt` set to true ends the run cleanly: what is finished is saved and reported. `failure` tells of an error
// which it is.
Result<ExperimentResult> run_experiment(const RunOptions& options, const std::atomic<bool>& interrupt, Failure& failure);

}  // namespace allot::training
