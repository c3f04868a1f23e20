// The options of a run, kept in its folder: a run that is resumed under other options would mix two runs in one table.
#pragma once

#include <filesystem>

#include "common/result.h"
#include "runtime/training/run/options.h"

namespace allot::training {

// Held while a process works on the run; a run that was refused before it began leaves it behind.
inline constexpr const char* run_lock_name = "train.lock";

// Makes `run` the folder of this run, before anything is computed. A new run gets a folder that is new or empty, and
// `settings.json` in it; a resumed run must exist, and its settings must be those of `options`, so many iterations and
// what changes no number (threads, child processes, how it talks) aside, and what a policy file says that is followed. Errors name each option that differs.
Result<void> claim_run(const RunOptions& options, const std::filesystem::path& run);

// Whether the file that --policy names is followed: then it is edited while the run is, and may say anything by now.
bool follows_policy(const RunOptions& options);

}  // namespace allot::training
