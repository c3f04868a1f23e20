// What a run decided and why, told from its journal alone.
#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace allot::engine {

enum class StoryFormat { Words, Json };

// One line a decision that changed something, and one an iteration: `allot log RUN`. With `continues`, the answers
// that changed nothing too. Json: one object a line.
Result<std::string> tell_run(const std::filesystem::path& run_folder, StoryFormat format, bool continues = false);

// Everything about one group, with the values each decision read, the rule, and its source line: `allot why RUN GROUP`.
// Json: one object.
Result<std::string> tell_group(const std::filesystem::path& run_folder, int group, StoryFormat format);

}  // namespace allot::engine
