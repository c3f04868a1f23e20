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

// `interrupt` set to true ends the run cleanly: what is finished is saved and reported.
Result<ExperimentResult> run_experiment(const RunOptions& options, const std::atomic<bool>& interrupt);

}  // namespace allot::training
