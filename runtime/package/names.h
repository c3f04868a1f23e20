// How packages, their versions and the files in them may be called.
#pragma once

#include <array>
#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace allot::package {

// Three numbers: a version is one exact state of a package, for ever.
struct Version {
  std::array<int, 3> numbers{};
  friend auto operator<=>(const Version&, const Version&) = default;
  std::string text() const;  // "1.2.0"
};
// Without leading zeros, signs or anything after the third number.
Result<Version> parse_version(std::string_view text);

// One or more words with dots between them, as `import` names them: "gates", "team.gates". Lower-case letters, digits
// and `_`, each word beginning with a letter; at most limits.name_bytes.
bool is_package_name(std::string_view text);

// An error where an import of that name means the standard library: `stdlib`, and each of its policies. A package would
// take its place without a word.
Result<void> check_not_standard(const std::string& name);

// "is absolute", "leads out of its folder", …: why no file of a package may be called so; empty where it may. Names are
// ASCII, so that no two look alike, and are names on every machine.
std::string path_problem(std::string_view path);

// Whether a file of this name is part of a package: allot.toml, policies, Markdown, README, LICENSE and NOTICE files.
// What else lies in the folder stays there.
bool belongs(std::string_view path);

// Two of `paths` that are one name where case does not count, or of which one is a file and a folder at once: the
// problem in words, or empty.
std::string collision(const std::vector<std::string>& paths);

inline constexpr std::string_view project_file = "allot.toml";
inline constexpr std::string_view lock_file = "allot.lock";
inline constexpr std::string_view listing_file = "allot.files";
inline constexpr std::string_view signature_file = "allot.signature";

// A name as a message may show it: bytes that are no printable ASCII become \xNN, and what is long is cut.
std::string shown(std::string_view name);

}  // namespace allot::package
