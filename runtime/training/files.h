// Whole files, read with errors a person can act on; runtime/engine/disk.h writes them.
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

}  // namespace allot::training
