// Policy files as commands see them: named by people, found, read and checked.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/diagnostics.h"
#include "lang/program.h"

namespace allot::cli {

struct PolicyFile {
  std::shared_ptr<const lang::Source> source;
  lang::Diagnostics diagnostics;
  std::optional<lang::Program> program;  // its hash is filled; there where no diagnostic is an error
};

// The files that are meant: a folder stands for every .allot file below it, in alphabetical order; what is in hidden folders (installed
// packages) belongs to others and is left alone. A folder without one is an error; whether a named file exists is found out on reading it.
Result<std::vector<std::filesystem::path>> find_policies(const std::vector<std::string>& named);

// Text alone, unchecked. `-` is standard input. An error is about the file, never about what it says.
Result<PolicyFile> read_source(const std::filesystem::path& path);
// The same, checked.
Result<PolicyFile> read_policy(const std::filesystem::path& path);

// "name=value", each name at most once.
Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& settings);

// All diagnostics on stderr, coloured where that is a terminal. Where no program was read they are kept for the document
// with which a command ends that was asked for JSON (runtime/cli/output.h).
void show_diagnostics(const PolicyFile& file);
// For that document alone: of a policy that the engine refused, which tells of it in words.
void keep_diagnostics_of(const std::filesystem::path& policy);

// "line 12", in a policy of several files "gates.allot:12".
std::string where(const lang::Source& source, std::uint32_t offset);

}  // namespace allot::cli
