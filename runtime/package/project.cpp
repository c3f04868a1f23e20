#include "runtime/package/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runtime/package/files.h"
#include "runtime/package/limits.h"
#include "runtime/package/signature.h"
#include "runtime/package/toml.h"

namespace allot::package {

namespace fs = std::filesystem;

std::string Source::text() const {
  switch (kind) {
    case Kind::Path: return address;
    case Kind::Git: return "git " + address + (wanted.empty() ? "" : " at " + wanted);
    case Kind::Url: return address;
    case Kind::Registry: return "registry " + address + ", " + wanted;
  }
  return address;
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Source::toml() const {
  const auto pair = [](std::string_view key, std::string_view value) { return fmt::format("{} = {}", key, toml_string(value)); };
  std::string inside;
  switch (kind) {
    case Kind::Path: inside = pair("path", address); break;
    case Kind::Git: inside = pair("git", address); break;
    case Kind::Url: inside = pair("url", address); break;
    case Kind::Registry: inside = pair("registry", address); break;
  }
  if (!wanted.empty()) inside += ", " + pair(kind == Kind::Git ? "rev" : "version", wanted);
  if (!commit.empty()) inside += ", " + pair("commit", commit);
  return "{ " + inside + " }";
}

namespace {

Result<std::vector<Dependency>> read_dependencies(const toml::node& node, const std::string& where) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return toml_error(where, &node, "`dependencies` is a table", "[dependencies]");
  if (table->size() > limits.dependencies) {
    return toml_error(where, &node, fmt::format("more than {} dependencies", limits.dependencies));
  }
  std::vector<Dependency> found;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    if (!is_package_name(name)) {
      return toml_error(where, &value, fmt::format("`{}` cannot name a package", shown(name)),
                        "a name is made of a-z, 0-9 and _; with dots in it, it stands in quotes: \"team.gates\"");
    }
    auto source = read_source(value, where, false);
    if (!source) return source.error();
    found.push_back({name, *std::move(source)});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

Result<std::vector<Key>> read_keys(const toml::node& node, const std::string& where) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return toml_error(where, &node, "`keys` is a table", "[keys]\nalice = \"ed25519:…\"");
  std::vector<Key> found;
  for (const auto& [key, value] : *table) {
    const std::string text = value.is_string() ? value.as_string()->get() : "";
    if (!is_public_key(text)) {
      return toml_error(where, &value, fmt::format("the key of {} is none", shown(key.str())),
                        "`allot sign --key FILE` prints it: \"ed25519:\" and 44 letters");
    }
    found.push_back({std::string(key.str()), text});
  }
  return found;
}

Result<std::map<std::string, std::string>> read_registries(const toml::node& node, const std::string& where) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return toml_error(where, &node, "`registries` is a table", "[registries]\nteam = \"/a/folder\"");
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : *table) {
    if (!value.is_string() || value.as_string()->get().empty()) {
      return toml_error(where, &value, "a registry is a folder, or an https address", "team = \"/a/folder\"");
    }
    found.emplace(key.str(), value.as_string()->get());
  }
  return found;
}

}  // namespace

Result<Project> parse_project(std::string_view text, const std::string& where) {
  const auto table = parse_toml(text, where);
  if (!table) return table.error();
  if (auto good = only(*table, where, {"name", "version", "license", "dependencies", "keys", "registries"}); !good) {
    return good.error();
  }
  Project project;
  const auto name = string_at(*table, "name", where);
  const auto version = string_at(*table, "version", where);
  const auto license = string_at(*table, "license", where);
  for (const auto* each : {&name, &version, &license}) {
    if (!*each) return each->error();
  }
  project.name = *name;
  project.license = *license;
  if (!name->empty() && !is_package_name(*name)) {
    return toml_error(where, table->get("name"), fmt::format("`{}` cannot name a package", shown(*name)),
                      "a name is made of a-z, 0-9 and _, with dots between words: team.gates");
  }
  if (table->contains("version")) {
    const auto parsed = parse_version(*version);
    if (!parsed) return toml_error(where, table->get("version"), parsed.error().what, parsed.error().help);
    project.version = *parsed;
  }
  if (const toml::node* node = table->get("dependencies")) {
    auto found = read_dependencies(*node, where);
    if (!found) return found.error();
    project.dependencies = *std::move(found);
  }
  if (const toml::node* node = table->get("keys")) {
    auto found = read_keys(*node, where);
    if (!found) return found.error();
    project.keys = *std::move(found);
  }
  if (const toml::node* node = table->get("registries")) {
    auto found = read_registries(*node, where);
    if (!found) return found.error();
    project.registries = *std::move(found);
  }
  return project;
}

Result<Project> read_project(const fs::path& folder) {
  const fs::path file = folder / project_file;
  const auto text = read_file(file, limits.text_bytes);
  if (!text) return text.error();
  return parse_project(*text, file.string());
}

std::optional<fs::path> find_project(const fs::path& start) {
  std::error_code failure;
  fs::path folder = fs::weakly_canonical(fs::absolute(start, failure), failure);
  for (; !failure; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / project_file, failure)) {
      const fs::path packages = folder.parent_path();
      const bool installed = packages.filename() == "packages" && packages.parent_path().filename() == ".allot";
      return installed ? packages.parent_path().parent_path() : folder;
    }
    failure.clear();
    if (folder == folder.parent_path()) break;
  }
  return std::nullopt;
}

}  // namespace allot::package
