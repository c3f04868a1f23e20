// Whole files in and out, with errors a person can act on.
#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"

namespace allot::training {

Result<std::string> read_file(const std::filesystem::path& path);

// The error for a JSON file that cannot be used: the byte from which it is none, or what it lacks. `text` is what was
// read of `path`; `help` says what can be done.
Error damaged(const std::filesystem::path& path, std::string_view text, const std::exception& problem, std::string help);

// Writes to a temporary name beside `path`, syncs, renames: a reader sees the old file or the new one, never half.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// Puts the finished folder `from` in the place of `to` (which may exist) in one move, and removes the old one.
Result<void> replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace allot::training
