// allot.toml: what a project, or a package, is called and needs.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/package/names.h"

namespace allot::package {

// Where a package comes from. In allot.toml one of
//   { path = "../gates" }                                   a folder, or a bundle
//   { git = "https://…/gates.git", rev = "v1.2.0" }         rev may be left out: the newest then
//   { url = "https://…/gates-1.2.0.tar.zst" }
//   { registry = "team", version = "1.2.0" }
struct Source {
  enum class Kind { Path, Git, Url, Registry };
  Kind kind = Kind::Path;
  std::string address;  // the folder or bundle, the address, or the name of the registry
  std::string wanted;   // the revision or the version; else empty
  std::string commit;   // of git, in allot.lock: the revision as it was found
  std::string text() const;   // "registry team, 1.2.0", for people
  std::string toml() const;   // an inline table
  // Whether both ask for the same; the commit that was found does not count.
  bool same(const Source& other) const {
    return kind == other.kind && address == other.address && wanted == other.wanted;
  }
};

struct Dependency {
  std::string name;
  Source source;
};

struct Key {
  std::string name;
  std::string text;  // "ed25519:…"
};

struct Project {
  std::string name;                  // empty where it is no package, as of a project that only uses others
  std::optional<Version> version;
  std::string license;
  std::vector<Dependency> dependencies;          // sorted by name
  std::vector<Key> keys;                         // trusted ones; where there is one, every package must be signed
  std::map<std::string, std::string> registries; // name: a folder, or an https address
};

// `where` names the text in messages. What is unknown in it is an error: a mistyped `[keys]` must not go unnoticed.
Result<Project> parse_project(std::string_view text, const std::string& where);
Result<Project> read_project(const std::filesystem::path& folder);

// The nearest folder with an allot.toml, `start` itself or above it. A package that lies installed in a project counts as
// that project.
std::optional<std::filesystem::path> find_project(const std::filesystem::path& start);

// A string as TOML writes it.
std::string toml_string(std::string_view text);

}  // namespace allot::package
