// Whole files in and out, with errors a person can act on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"

namespace allot::training {

Result<std::string> read_file(const std::filesystem::path& path);

// Writes to a temporary name beside `path`, syncs, renames: a reader sees the old file or the new one, never half.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// Puts the finished folder `from` in the place of `to` (which may exist) in one move, and removes the old one.
Result<void> replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace allot::training
