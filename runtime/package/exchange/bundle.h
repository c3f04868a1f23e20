// A package as one file, NAME-VERSION.tar.zst: allot.files, allot.signature where it is signed, then the files in the
// order of their paths' bytes. The same package gives the same bytes (with the same libzstd).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "runtime/package/content.h"

namespace allot::package {

inline constexpr std::string_view bundle_ending = ".tar.zst";

std::string bundle_name(const std::string& name, const Version& version);  // "gates-1.2.0.tar.zst"

// An error where its name is the standard library's.
Result<std::string> to_bundle(const Package& package);

// Everything that is wrong with the bytes, before any of them is used: how much they unpack to, the archive's form, the
// files' names, and whether they are exactly those of the list. `where` begins the message.
Result<Package> from_bundle(std::string_view bytes, const std::string& where);

// A folder or a bundle.
Result<Package> read_package(const std::filesystem::path& path);

}  // namespace allot::package
