// What a run decided and why, told from its journal alone.
#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"
#include "runtime/engine/record_rows.h"

namespace allot::engine {

enum class StoryFormat { Words, Json };

// One line a decision that changed something, and one an iteration: `allot log RUN`. With `continues`, the answers
// that changed nothing too. Json: one object a line.
Result<std::string> tell_run(const std::filesystem::path& run_folder, StoryFormat format, bool continues = false,
                             const RowFilter& filter = {});

// The line of one row, with its line end; empty where a reader is not told of it.
std::string tell_row(const RecordRow& row, StoryFormat format, bool continues);

// "warning: …", a line each.
std::string tell_problems(const JournalProblems& problems);

// What happened to a group or a prompt beside the answers of the policy; empty for other records.
std::string event_words(const nlohmann::ordered_json& record);

// "version 1 (3138bfeac6ec)".
std::string version_words(int version, const std::string& hash);

// The line of a row of the kind `version`, which the story leaves to the swap that brought it: "version 1 (3138bfeac6ec) is
// the policy gate of gate.allot, with most=0.5".
std::string version_line(const RecordRow& row);

// " (late: not carried out)"; empty for a verdict that was.
std::string carried_words(const std::string& carried);

// Everything about one group, with the values each decision read, the rule, and its source line: `allot why RUN GROUP`.
// Json: one object.
Result<std::string> tell_group(const std::filesystem::path& run_folder, int group, StoryFormat format);

}  // namespace allot::engine
