// A registry is a plain folder: NAME/NAME-VERSION.tar.zst. A version that is there never changes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/package/content.h"

namespace allot::package {

enum class Publish { New, There };  // There: the same bytes were there already

// Puts the bundle there in one step: a reader sees all of it or nothing, and of two who publish the same version at the
// same time one is told that it is taken.
Result<Publish> publish(const std::filesystem::path& registry, const Package& package, std::string_view bundle);

// From the lowest up; none where it has no such package.
std::vector<Version> versions_in(const std::filesystem::path& registry, const std::string& name);

// All packages in it, by name.
Result<std::vector<std::string>> packages_in(const std::filesystem::path& registry);

// Writes `bytes` to a new file in one step; false where there is a file already.
Result<bool> write_new(const std::filesystem::path& file, std::string_view bytes, unsigned mode);

}  // namespace allot::package
