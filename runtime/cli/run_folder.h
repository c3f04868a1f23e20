// The part of a run folder that holds a journal. A trainer's run has one for every seed and arm.
#pragma once

#include <filesystem>

#include "common/result.h"

namespace allot::cli {

// `named` itself, where a journal is in it; else the first arm below it that ran under a policy, else the first with a
// journal. Where there was a choice, it is told on stderr.
Result<std::filesystem::path> journal_folder(const std::filesystem::path& named);

// The log of what was rolled out in the run of this folder. An error says who writes one, and what to give in its place.
Result<std::filesystem::path> rollouts_of(const std::filesystem::path& folder);

}  // namespace allot::cli
