#include "runtime/package/exchange/registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "runtime/package/exchange/bundle.h"
#include "runtime/package/exchange/child.h"
#include "runtime/package/limits.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

Error cannot(std::string_view what, const fs::path& path) {
  return Error{fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)), ""};
}

bool write_all(int out, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(out, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

Result<void> write_whole(const fs::path& file, std::string_view bytes, unsigned mode) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (out < 0) return cannot("write", file);
  const bool good = write_all(out, bytes) && ::fchmod(out, mode) == 0 && (::fsync(out) == 0 || errno == EINVAL);
  const Error problem = cannot("write", file);
  if (::close(out) != 0 || !good) return problem;
  return {};
}

}  // namespace

Result<bool> write_new(const fs::path& file, std::string_view bytes, unsigned mode) {
  auto work = WorkFolder::make(file.parent_path().empty() ? fs::path(".") : file.parent_path());
  if (!work) return work.error();
  const fs::path draft = work->path() / "new";
  if (auto written = write_whole(draft, bytes, mode); !written) return written.error();
  if (::link(draft.c_str(), file.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  // A file system without hard links.
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  return cannot("write", file);
}

Result<Publish> publish(const fs::path& registry, const Package& package, std::string_view bundle) {
  std::error_code failure;
  if (!fs::is_directory(registry, failure)) {
    return Error{fmt::format("the registry {} is no folder", registry.string()), "make it first: a registry is a plain folder"};
  }
  const std::string& name = package.project.name;
  const fs::path folder = registry / name;
  fs::create_directory(folder, failure);
  if (failure) return Error{fmt::format("cannot make {}: {}", folder.string(), failure.message()), ""};
  const fs::path file = folder / bundle_name(name, *package.project.version);
  const auto written = write_new(file, bundle, 0444);
  if (!written) return written.error();
  if (*written) return Publish::New;
  const auto there = read_file(file, limits.bundle_bytes);
  if (!there) return there.error();
  if (*there == bundle) return Publish::There;
  const auto other = from_bundle(*there, file.string());
  const std::string how = other && other->hash == package.hash ? "with other signatures" : "with other files";
  return Error{fmt::format("{} {} is in the registry already, {}", name, package.project.version->text(), how),
               "a published version never changes: give the package a new version"};
}

std::vector<Version> versions_in(const fs::path& registry, const std::string& name) {
  std::vector<Version> found;
  std::error_code failure;
  for (fs::directory_iterator entry(registry / name, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::string file = entry->path().filename().string();
    if (!file.starts_with(name + "-") || !file.ends_with(bundle_ending)) continue;
    file = file.substr(name.size() + 1, file.size() - name.size() - 1 - bundle_ending.size());
    if (const auto version = parse_version(file)) found.push_back(*version);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<std::string>> packages_in(const fs::path& registry) {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::directory_iterator entry(registry, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (is_package_name(name)) found.push_back(name);
  }
  if (failure) return Error{fmt::format("cannot list the registry {}: {}", registry.string(), failure.message()), ""};
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace allot::package
