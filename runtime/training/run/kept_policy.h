// What the folder of a run keeps of its policies, beside what their files say by now. A run that is resumed goes on under
// what it keeps.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/policy_edits.h"
#include "runtime/engine/policy_text.h"

namespace allot::training {

// The texts of all policies that the run was under, whatever the seed.
std::vector<engine::PolicyText> kept_policies(const std::filesystem::path& run);

// How the file, and what it names, differ from the active version of each arm `policy`: a sentence each, as
// engine::edits_since_active() has it.
std::vector<std::string> policy_edits(const std::filesystem::path& run, const std::filesystem::path& file, engine::OwnText own);

// Whether the arm `policy` of a seed has kept what it is under.
bool has_begun(const std::filesystem::path& arm);
// For the arm `policy` of a seed that had not begun when the run ended: it begins under what the others began with, not under
// what the files say by now. Nothing where it has begun, or no other has.
Result<void> begin_as_others(const std::filesystem::path& run, const std::filesystem::path& arm);

}  // namespace allot::training
