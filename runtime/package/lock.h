// allot.lock: the exact packages of a project, so that the same texts decide everywhere.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/package/names.h"
#include "runtime/package/project.h"

namespace allot::package {

struct Locked {
  std::string name;
  Version version;
  Source source;     // a path is relative to the project
  std::string hash;  // SHA-256 of its allot.files, 64 hexadecimal digits: it covers every byte of the package
  std::vector<std::string> needs;  // names of the packages that it names itself, sorted
};

struct Lock {
  std::vector<Locked> packages;  // sorted by name, one a name
  const Locked* find(std::string_view name) const;
};

// The same lock has the same text.
std::string lock_text(const Lock& lock);
Result<Lock> parse_lock(std::string_view text, const std::string& where);
// An empty one where there is no file.
Result<Lock> read_lock(const std::filesystem::path& project);

}  // namespace allot::package
