#include "runtime/package/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runtime/package/files.h"
#include "runtime/package/limits.h"
#include "runtime/package/toml.h"

namespace allot::package {

namespace fs = std::filesystem;

const Locked* Lock::find(std::string_view name) const {
  const auto it = std::find_if(packages.begin(), packages.end(), [&](const Locked& each) { return each.name == name; });
  return it == packages.end() ? nullptr : &*it;
}

std::string lock_text(const Lock& lock) {
  std::string text = "# Written by `allot add`: the exact packages of this project. Keep it beside allot.toml.\nformat = 1\n";
  for (const Locked& each : lock.packages) {
    text += fmt::format("\n[[package]]\nname = {}\nversion = {}\nsource = {}\nsha256 = {}\n", toml_string(each.name),
                        toml_string(each.version.text()), each.source.toml(), toml_string(each.hash));
    if (each.needs.empty()) continue;
    std::string needs;
    for (const std::string& name : each.needs) needs += (needs.empty() ? "" : ", ") + toml_string(name);
    text += fmt::format("needs = [{}]\n", needs);
  }
  return text;
}

namespace {

bool is_hash(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<Locked> read_locked(const toml::node& node, const std::string& where) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return toml_error(where, &node, "a package is a table");
  if (auto good = only(*table, where, {"name", "version", "source", "sha256", "needs"}); !good) return good.error();
  const auto name = string_at(*table, "name", where);
  const auto version = string_at(*table, "version", where);
  const auto hash = string_at(*table, "sha256", where);
  for (const auto* each : {&name, &version, &hash}) {
    if (!*each) return each->error();
  }
  // These become names of folders: nothing else may stand here.
  if (!is_package_name(*name)) return toml_error(where, &node, fmt::format("`{}` names no package", shown(*name)));
  const auto parsed = parse_version(*version);
  if (!parsed) return toml_error(where, &node, parsed.error().what);
  if (!is_hash(*hash)) return toml_error(where, &node, "`sha256` is 64 hexadecimal digits");
  const toml::node* const source_node = table->get("source");
  if (source_node == nullptr) return toml_error(where, &node, "a package has a source");
  auto source = read_source(*source_node, where, true);
  if (!source) return source.error();
  Locked locked{*name, *parsed, *std::move(source), *hash, {}};
  if (const toml::node* needs = table->get("needs")) {
    if (!needs->is_array() || needs->as_array()->size() > limits.dependencies) return toml_error(where, needs, "`needs` is a list");
    for (const toml::node& each : *needs->as_array()) {
      const std::string needed = each.is_string() ? each.as_string()->get() : "";
      if (!is_package_name(needed)) return toml_error(where, &each, fmt::format("`{}` names no package", shown(needed)));
      locked.needs.push_back(needed);
    }
  }
  return locked;
}

}  // namespace

Result<Lock> parse_lock(std::string_view text, const std::string& where) {
  const auto table = parse_toml(text, where);
  if (!table) return table.error();
  if (auto good = only(*table, where, {"format", "package"}); !good) return good.error();
  if (const auto format = (*table)["format"].value<std::int64_t>(); format != 1) {
    return toml_error(where, table->get("format"), "this is no allot.lock of a form that is known (format = 1)",
                      "`allot add` writes it anew where it is removed");
  }
  Lock lock;
  const toml::node* const packages = table->get("package");
  if (packages == nullptr) return lock;
  if (!packages->is_array() || packages->as_array()->size() > limits.packages) {
    return toml_error(where, packages, fmt::format("`package` is a list of at most {}", limits.packages));
  }
  for (const toml::node& node : *packages->as_array()) {
    auto locked = read_locked(node, where);
    if (!locked) return locked.error();
    if (lock.find(locked->name) != nullptr) return toml_error(where, &node, fmt::format("`{}` is there twice", locked->name));
    lock.packages.push_back(*std::move(locked));
  }
  std::sort(lock.packages.begin(), lock.packages.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return lock;
}

Result<Lock> read_lock(const fs::path& project) {
  const fs::path file = project / lock_file;
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(file, failure))) return Lock();
  const auto text = read_file(file, limits.text_bytes);
  if (!text) return text.error();
  return parse_lock(*text, file.string());
}

}  // namespace allot::package
