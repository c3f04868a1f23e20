// A package that was examined: all of its files in memory, its list of files, and who signed that.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/package/files.h"
#include "runtime/package/lock.h"
#include "runtime/package/project.h"
#include "runtime/package/signature.h"

namespace allot::package {

struct Package {
  Project project;         // with name and version
  Files files;             // without allot.files and allot.signature
  std::string listing;     // the text of allot.files
  std::string signatures;  // the text of allot.signature; empty where nobody has signed
  std::string hash;        // SHA-256 of the listing
};

// The list of all files with their hashes: a first line, then "SHA256 SIZE PATH" in the order of the paths' bytes.
std::string listing_of(const Files& files);

// What `files` are as a package. Where allot.files is among them, or `listed` demands it, it must be the list of exactly
// these files.
Result<Package> examine(Files files, bool listed);

// Where a locked package lies in its project. The hash is in the name, so what lies there never changes its meaning.
std::filesystem::path installed_folder(const std::filesystem::path& project, const Locked& locked);

// The installed package, if every byte of it is what the lock says and one of the keys signed it.
Result<Package> read_installed(const std::filesystem::path& project, const Locked& locked, const std::vector<Key>& keys);

}  // namespace allot::package
