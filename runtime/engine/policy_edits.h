// What became of the files of a policy since a run folder kept their texts. A run that is resumed goes on under those.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/policy_text.h"

namespace allot::engine {

// Hash over the file and all that it names, as versions/HASH.json has it; over the file alone where it has errors.
Result<std::string> policy_hash(const std::filesystem::path& file);

// The texts of all policies that the run of this folder was under.
std::vector<PolicyText> kept_texts(const std::filesystem::path& run);
// Whether the file itself says what one of `kept` says; what it names may differ.
bool is_kept(const std::filesystem::path& file, const std::vector<PolicyText>& kept);

// A file that is followed comes in by itself: of it no edit is told, but of what it names.
enum class OwnText { Told, Followed };

// How the file, and what it names, differ from the active version of the run: a sentence each. Empty where nothing does, or
// the folder does not tell.
std::vector<std::string> edits_since_active(const std::filesystem::path& run, const std::filesystem::path& file, OwnText own);

}  // namespace allot::engine
