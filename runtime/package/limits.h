// Every limit of packages in one place, with its reason. All are checked before anything is written or read as a policy.
#pragma once

#include <cstddef>

namespace allot::package {

struct Limits {
  std::size_t path_bytes = 100;             // of a file in a package: the name field of an archive's header
  std::size_t path_depth = 8;               // folders and the file's own name
  std::size_t name_bytes = 64;              // of a package
  std::size_t files = 1000;                 // of a package
  std::size_t file_bytes = 1 << 20;         // of one file, as of a policy
  std::size_t package_bytes = 16 << 20;     // of all files
  std::size_t bundle_bytes = 16 << 20;      // of an archive, compressed
  std::size_t archive_bytes = 20 << 20;     // unpacked: the files, their headers and their padding
  std::size_t text_bytes = 256 << 10;       // of allot.toml and of allot.lock
  std::size_t key_parts = 64;               // of a dotted key in them
  std::size_t listing_bytes = 256 << 10;    // of allot.files: a thousand lines
  std::size_t signature_bytes = 16 << 10;   // of allot.signature
  std::size_t signatures = 16;              // of one package
  std::size_t dependencies = 64;            // of one package
  std::size_t packages = 256;               // of one project
  int version_number = 1'000'000;           // each of the three numbers is smaller
};

inline constexpr Limits limits{};

}  // namespace allot::package
