// From where packages come: a folder or bundle, a git repository, an HTTPS address, a registry.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/result.h"
#include "runtime/package/content.h"

namespace allot::package {

// The files of a package in a repository, read out of git's store: nothing is checked out, so no hook, filter, link or
// submodule of it is ever looked at. Addresses are https, ssh or a local folder; http to this machine alone.
// `revision` is a tag, branch or commit; empty: what the repository has as its HEAD. The second is the commit.
// A server that has not given everything after `patience` is given up.
Result<std::pair<Files, std::string>> read_git(const std::string& address, const std::string& revision,
                                               std::chrono::seconds patience = std::chrono::seconds(60));

// The bytes at an https address, or an http one of this machine. Fetched by `allot-fetch`, which stands beside the
// running program and alone links libcurl.
Result<std::string> fetch(const std::string& address);

// Whether the address is http and leaves this machine: anyone on the way could change what comes.
bool is_open_http(const std::string& address);

struct Fetched {
  Package package;
  Source source;  // with the commit of git
};
// Gets and examines what a source means. A path is relative to `root`; registries are those of the project.
Result<Fetched> obtain(const Source& source, const std::string& name, const std::filesystem::path& root,
                       const std::map<std::string, std::string>& registries);

}  // namespace allot::package
