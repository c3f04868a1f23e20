// What the folder of a run keeps of its policies, beside what their files say by now. A run that is resumed goes on under
// what it keeps.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/policy_text.h"

namespace allot::training {

// Hash over the file and all that it names, as versions/HASH.json has it; over the file alone where it has errors.
Result<std::string> policy_hash(const std::filesystem::path& file);

// The texts of all policies that the run was under, whatever the seed.
std::vector<engine::PolicyText> kept_policies(const std::filesystem::path& run);

// Whether the file itself says what one of `kept` says; what it names may differ.
bool is_kept(const std::filesystem::path& file, const std::vector<engine::PolicyText>& kept);

// The files which it names that say something else than in every text of `kept` that is like it, or are gone: a sentence
// each. Empty where nothing changed.
std::vector<std::string> changed_imports(const std::filesystem::path& file, const std::vector<engine::PolicyText>& kept);

// For the arm `policy` of a seed that had not begun when the run ended: it begins under what the others began with, not under
// what the files say by now. Nothing where it has begun, or no other has.
Result<void> begin_as_others(const std::filesystem::path& run, const std::filesystem::path& arm);

}  // namespace allot::training
