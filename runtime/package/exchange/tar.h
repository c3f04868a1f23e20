// Archives in the one form of ustar (POSIX.1-1988) that has no choices: regular files alone, fixed times, modes and
// owners, names without a prefix, two empty blocks at the end. So the same files give the same bytes, and bytes that are
// anything else are refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace allot::package {

using Entries = std::vector<std::pair<std::string, std::string>>;  // names and bytes, in the order of the archive

// Names are at most limits.path_bytes long.
std::string to_tar(const Entries& entries);

// Names are those that stand there: whether they may, is for the caller to check before they name anything on disk.
Result<Entries> from_tar(std::string_view tar);

}  // namespace allot::package
