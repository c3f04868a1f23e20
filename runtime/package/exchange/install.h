// Packages put into a project.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "runtime/package/exchange/child.h"
#include "runtime/package/exchange/resolve.h"

namespace allot::package {

// allot.toml with the dependency in it; all else stays as it stands there, comments too. An error where that cannot be
// done by adding or changing one line.
Result<std::string> with_dependency(std::string_view project_text, const Dependency& dependency);

// Writes all packages of the resolution that are not there yet, each unpacked beside its place and then moved there in
// one step; then `project_text` where it is not empty; the lock last. So a project has the old packages or the new ones.
Result<void> install(const std::filesystem::path& root, const Resolution& resolution, std::string_view project_text);

// A package laid out for a while, to be read and then forgotten. Below a project it may use the packages of its lock.
using UnpackedPackage = WorkFolder;
Result<UnpackedPackage> unpack_for_reading(const Package& package, const std::filesystem::path& project);

}  // namespace allot::package
