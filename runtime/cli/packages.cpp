#include "runtime/cli/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

Result<std::optional<Here>> maybe_project_here() {
  const auto root = package::find_project(".");
  if (!root) return std::optional<Here>();
  auto project = package::read_project(*root);
  if (!project) return project.error();
  auto lock = package::read_lock(*root);
  if (!lock) return lock.error();
  return std::optional<Here>(Here{*root, *std::move(project), *std::move(lock)});
}

Result<Here> project_here() {
  auto here = maybe_project_here();
  if (!here) return here.error();
  if (!*here) {
    return Error{"there is no allot.toml in this folder or above it, so this is no project",
                 "`allot add WHAT` begins one; `allot new NAME --package` makes a package"};
  }
  return **std::move(here);
}

Json to_json(const package::Package& package, const std::vector<package::Signer>& signers) {
  Json signatures = Json::array();
  for (const package::Signer& each : signers) {
    signatures.push_back({{"key", each.key}, {"trusted_as", each.trusted.empty() ? Json() : Json(each.trusted)}});
  }
  Json files = Json::array();
  for (const auto& [path, bytes] : package.files) files.push_back({{"path", path}, {"bytes", bytes.size()}});
  return {{"name", package.project.name},
          {"version", package.project.version->text()},
          {"license", package.project.license},
          {"sha256", package.hash},
          {"signatures", std::move(signatures)},
          {"imports", import_names(package)},
          {"files", std::move(files)}};
}

std::string in_words(const std::vector<package::Signer>& signers) {
  if (signers.empty()) return "not signed";
  std::string trusted, others;
  for (const package::Signer& each : signers) {
    std::string& into = each.trusted.empty() ? others : trusted;
    into += (into.empty() ? "" : ", ") + (each.trusted.empty() ? each.key : each.trusted);
  }
  return trusted.empty() ? fmt::format("signed by {}, which no key of this project is", others)
                         : fmt::format("signed by {}", trusted);
}

bool policies_are_right(const fs::path& folder, const package::Package& package) {
  bool right = true;
  for (const auto& [path, bytes] : package.files) {
    if (!path.ends_with(".allot")) continue;
    const auto file = read_policy((folder / path).lexically_normal());
    if (!file) {
      fmt::print(stderr, "allot: {}\n", file.error().text());
      right = false;
      continue;
    }
    if (!file->program) show_diagnostics(*file);
    right = right && file->program.has_value();
  }
  return right;
}

std::vector<std::string> import_names(const package::Package& package) {
  const std::string& name = package.project.name;
  std::vector<std::string> names;
  for (const auto& [path, bytes] : package.files) {
    constexpr std::string_view ending = ".allot";
    if (!path.ends_with(ending)) continue;
    std::string inside = path.substr(0, path.size() - ending.size());
    std::replace(inside.begin(), inside.end(), '/', '.');
    names.push_back(inside == name.substr(name.rfind('.') + 1) ? name : name + "." + inside);
  }
  return names;
}

Result<fs::path> registry_folder(const std::string& named) {
  const auto here = maybe_project_here();
  if (!here) return here.error();
  if (*here) {
    const auto it = (*here)->project.registries.find(named);
    if (it != (*here)->project.registries.end()) {
      if (it->second.find("://") != std::string::npos) {
        return Error{fmt::format("the registry `{}` is {}, which can only be read", named, it->second),
                     "name the folder that is served there"};
      }
      return (*here)->root / it->second;
    }
  }
  std::error_code failure;
  if (fs::is_directory(named, failure)) return fs::path(named);
  return Error{fmt::format("there is no registry `{}`", named), "name one of [registries] in allot.toml, or a folder"};
}

}  // namespace allot::cli
