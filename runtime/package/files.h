// The files of a package in memory, and where they come from on disk. A package is pages of text: it is held and checked
// as a whole before any of it is used.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/result.h"

namespace allot::package {

using Files = std::map<std::string, std::string>;  // path within the package, with `/`: bytes

// What cannot be a package: names, sizes, collisions, too many files, no allot.toml, a file that no package holds.
Result<void> check_files(const Files& files);

// What of the folder belongs to a package, with allot.files and allot.signature where they are there. Hidden folders and
// folders with an allot.toml of their own are left out; a link in place of a file is an error.
Result<Files> read_folder(const std::filesystem::path& folder);

// All that lies in the folder, which must hold nothing but files of a package: an installed one.
Result<Files> read_whole_folder(const std::filesystem::path& folder);

// A regular file that is no link, of at most `most` bytes.
Result<std::string> read_file(const std::filesystem::path& file, std::size_t most);

}  // namespace allot::package
