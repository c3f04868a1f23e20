#include "runtime/package/exchange/install.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

#include "runtime/engine/journal.h"
#include "runtime/package/exchange/registry.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

struct Lines {
  std::vector<std::string> all;
  explicit Lines(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      all.emplace_back(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  std::string text() const {
    std::string joined;
    for (const std::string& line : all) joined += line + "\n";
    return joined;
  }
};

std::string bare(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  line = line.substr(begin, line.find('#') == std::string_view::npos ? line.size() : line.find('#') - begin);
  const std::size_t end = line.find_last_not_of(" \t\r");
  return end == std::string_view::npos ? std::string() : std::string(line.substr(0, end + 1));
}

// What stands after the value, with the blanks before it; empty where there is no comment.
std::string comment_of(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#') {
      while (i > 0 && (line[i - 1] == ' ' || line[i - 1] == '\t')) --i;
      return std::string(line.substr(i));
    }
  }
  return {};
}

std::string key_of(const std::string& name) {
  return name.find('.') == std::string::npos ? name : toml_string(name);
}

bool has_exactly(const Project& project, const Project& before, const Dependency& wanted) {
  std::size_t others = 0;
  bool found = false;
  for (const Dependency& each : project.dependencies) {
    if (each.name == wanted.name)
      found = each.source.same(wanted.source);
    else
      ++others;
  }
  const auto kept = static_cast<std::size_t>(
      std::count_if(before.dependencies.begin(), before.dependencies.end(), [&](const Dependency& each) { return each.name != wanted.name; }));
  return found && others == kept;
}

Result<WorkFolder> lay_out(const Package& package, const fs::path& parent) {
  Files files = package.files;
  files.emplace(std::string(listing_file), package.listing);
  if (!package.signatures.empty()) files.emplace(std::string(signature_file), package.signatures);
  auto work = WorkFolder::make(parent);
  if (!work) return work;
  std::error_code failure;
  for (const auto& [path, bytes] : files) {
    const fs::path file = work->path() / path;
    fs::create_directories(file.parent_path(), failure);
    if (failure) return Error{fmt::format("cannot make {}: {}", file.parent_path().string(), failure.message()), ""};
    const auto written = write_new(file, bytes, 0644);
    if (!written) return written.error();
  }
  return work;
}

Result<void> write_package(const fs::path& folder, const Package& package) {
  auto work = lay_out(package, folder.parent_path());
  if (!work) return work.error();
  std::error_code failure;
  fs::permissions(work->path(), fs::perms(0755), failure);
  fs::rename(work->path(), folder, failure);
  if (failure) return Error{fmt::format("cannot put {} in its place: {}", folder.string(), failure.message()), ""};
  work->keep();
  return {};
}

// What killed processes left behind. A younger one may be that of somebody who reads a bundle just now.
void sweep(const fs::path& folder) {
  constexpr std::chrono::hours oldest{1};
  std::vector<fs::path> left;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (entry->path().filename().string().starts_with(WorkFolder::name_begins)) left.push_back(entry->path());
  }
  for (const fs::path& each : left) {
    const auto written = fs::last_write_time(each, failure);
    if (!failure && fs::file_time_type::clock::now() - written > oldest) fs::remove_all(each, failure);
  }
}

}  // namespace

Result<std::string> with_dependency(std::string_view project_text, const Dependency& dependency) {
  const auto before = parse_project(project_text, std::string(project_file));
  if (!before) return before.error();
  Lines lines(project_text);
  const std::string line = fmt::format("{} = {}", key_of(dependency.name), dependency.source.toml());
  auto header = std::find_if(lines.all.begin(), lines.all.end(), [](const std::string& each) { return bare(each) == "[dependencies]"; });
  if (header == lines.all.end()) {
    if (!lines.all.empty() && !lines.all.back().empty()) lines.all.emplace_back();
    lines.all.emplace_back("[dependencies]");
    lines.all.push_back(line);
  } else {
    auto after = std::next(header);
    auto place = after;
    bool replaced = false;
    for (; after != lines.all.end() && !bare(*after).starts_with('['); ++after) {
      const std::string key = bare(after->substr(0, after->find('=')));
      if (key == dependency.name || key == toml_string(dependency.name)) {
        *after = line + comment_of(*after);
        replaced = true;
      }
      if (!bare(*after).empty()) place = std::next(after);
    }
    if (!replaced) lines.all.insert(place, line);
  }
  const std::string text = lines.text();
  const auto now = parse_project(text, std::string(project_file));
  if (!now || !has_exactly(*now, *before, dependency)) {
    return Error{"allot.toml is written in a way that cannot be changed for you", "write in it, under [dependencies]: " + line};
  }
  return text;
}

Result<UnpackedPackage> unpack_for_reading(const Package& package, const fs::path& project) {
  std::error_code failure;
  const fs::path packages = project / ".allot" / "packages";
  return lay_out(package, !project.empty() && fs::is_directory(packages, failure) ? packages : fs::path());
}

Result<void> install(const fs::path& root, const Resolution& resolution, std::string_view project_text) {
  std::error_code failure;
  const fs::path packages = root / ".allot" / "packages";
  // A link in the place of the folder would lead the files elsewhere.
  for (const fs::path& folder : {root / ".allot", packages}) {
    if (fs::is_symlink(fs::symlink_status(folder, failure))) return Error{fmt::format("{} is a link", folder.string()), "make it a folder"};
  }
  for (const fs::path& folder : {root / ".allot", packages}) sweep(folder);
  if (!resolution.packages.empty()) {
    fs::create_directories(packages, failure);
    if (failure) return Error{fmt::format("cannot make {}: {}", packages.string(), failure.message()), ""};
    if (const auto ignored = write_new(root / ".allot" / ".gitignore", "*\n", 0644); !ignored) return ignored.error();
  }
  for (const Locked& locked : resolution.lock.packages) {
    const fs::path folder = installed_folder(root, locked);
    const Package& package = resolution.packages.at(locked.name);
    if (fs::exists(fs::symlink_status(folder, failure))) {
      const auto there = read_installed(root, locked, {});
      if (there && (package.signatures.empty() || package.signatures == there->signatures)) continue;
      fs::remove_all(folder, failure);  // damaged, or signed since: what is meant to lie there is known
      if (failure) return Error{fmt::format("cannot remove {}: {}", folder.string(), failure.message()), ""};
    }
    if (auto written = write_package(folder, package); !written) return written.error();
  }
  if (!project_text.empty()) {
    if (auto written = engine::replace_file(root / project_file, project_text); !written) return written.error();
  }
  return engine::replace_file(root / lock_file, lock_text(resolution.lock));
}

}  // namespace allot::package
