#include "runtime/package/content.h"

#include <fmt/format.h>

#include <system_error>

#include "runtime/math/checksum.h"
#include "runtime/package/limits.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view first_line = "allot-files 1\n";

std::string line_of(std::string_view path, std::string_view bytes) {
  return fmt::format("{} {} {}\n", math::sha256_hex(bytes), bytes.size(), path);
}

// Path by path what a list says, to tell in words how it differs from the files. Lines that are none are left out.
std::map<std::string, std::string> lines_by_path(std::string_view listing) {
  std::map<std::string, std::string> lines;
  while (!listing.empty()) {
    const std::size_t end = listing.find('\n');
    const std::string_view line = listing.substr(0, end);
    const std::size_t path = line.find(' ', line.find(' ') + 1);
    if (path != std::string_view::npos) lines.emplace(line.substr(path + 1), std::string(line) + "\n");
    listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
  }
  return lines;
}

Error listing_problem(const Files& files, std::string_view listing) {
  const std::string help = "after an edit `allot sign` writes the list anew; what came from elsewhere was changed on its way";
  const auto lines = lines_by_path(listing);
  for (const auto& [path, bytes] : files) {
    const auto it = lines.find(path);
    if (it == lines.end()) return Error{fmt::format("{} is not in its list of files", path), help};
    if (it->second != line_of(path, bytes)) {
      return Error{fmt::format("{} is not the file of its list: the hash differs", path), help};
    }
  }
  for (const auto& [path, line] : lines) {
    if (!files.contains(path)) return Error{fmt::format("{} is in its list of files, and missing", shown(path)), help};
  }
  return Error{"its list of files is not written as `allot pack` writes it", ""};
}

std::string take(Files& files, std::string_view name) {
  auto node = files.extract(std::string(name));
  return node.empty() ? std::string() : std::move(node.mapped());
}

}  // namespace

std::string listing_of(const Files& files) {
  std::string text(first_line);
  for (const auto& [path, bytes] : files) text += line_of(path, bytes);
  return text;
}

Result<Package> examine(Files files, bool listed) {
  if (auto good = check_files(files); !good) return good.error();
  Package package;
  const bool has_list = files.contains(std::string(listing_file));
  const std::string given = take(files, listing_file);
  package.signatures = take(files, signature_file);
  package.files = std::move(files);
  package.listing = listing_of(package.files);
  if (listed && !has_list) return Error{"it has no list of its files (allot.files)", "`allot pack` makes bundles"};
  if (has_list && given != package.listing) return listing_problem(package.files, given);
  if (!has_list && !package.signatures.empty()) return Error{"it has a signature, and no list of files that is signed", ""};
  package.hash = math::sha256_hex(package.listing);
  auto project = parse_project(package.files.at(std::string(project_file)), std::string(project_file));
  if (!project) return project.error();
  if (project->name.empty() || !project->version) {
    return Error{fmt::format("its allot.toml has no {}", project->name.empty() ? "name" : "version"),
                 "a package says both: name = \"gates\", version = \"1.0.0\""};
  }
  package.project = *std::move(project);
  return package;
}

fs::path installed_folder(const fs::path& project, const Locked& locked) {
  return project / ".allot" / "packages" / fmt::format("{}-{}-{}", locked.name, locked.version.text(), locked.hash.substr(0, 12));
}

Result<Package> read_installed(const fs::path& project, const Locked& locked, const std::vector<Key>& keys) {
  const std::string name = fmt::format("the package {} {}", locked.name, locked.version.text());
  const fs::path folder = installed_folder(project, locked);
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) return Error{name + " is not installed", "`allot add` installs what allot.lock names"};
  const auto changed = [&](const std::string& why) {
    return Error{fmt::format("{} was changed after it was installed: {}", name, why),
                 fmt::format("remove {} and run `allot add`", folder.string())};
  };
  auto files = read_whole_folder(folder);
  if (!files) return changed(files.error().what);
  auto package = examine(*std::move(files), true);
  if (!package) return changed(package.error().what);
  if (package->hash != locked.hash) return changed("its hash is not the one in allot.lock");
  if (package->project.name != locked.name || *package->project.version != locked.version) {
    return changed(fmt::format("it says that it is {} {}", package->project.name, package->project.version->text()));
  }
  if (const auto signed_by = signers(package->listing, package->signatures, keys); !signed_by) {
    return Error{fmt::format("{} cannot be used: {}", name, signed_by.error().what), signed_by.error().help};
  }
  return package;
}

}  // namespace allot::package
