// allot list: the packages of a project, or of a registry.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "runtime/cli/command.h"
#include "runtime/cli/packages.h"
#include "runtime/package/exchange/registry.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ListOptions {
  std::string registry;
  bool json = false;
};

Exit list_project(const ListOptions& options) {
  const auto here = project_here();
  if (!here) return complain(here.error()), Exit::Misuse;
  Json list = Json::array();
  for (const package::Locked& locked : here->lock.packages) {
    const auto installed = package::read_installed(here->root, locked, here->project.keys);
    list.push_back({{"name", locked.name},
                    {"version", locked.version.text()},
                    {"sha256", locked.hash},
                    {"source", locked.source.text()},
                    {"needs", locked.needs},
                    {"usable", static_cast<bool>(installed)},
                    {"problem", installed ? Json() : Json(installed.error().what)},
                    {"imports", installed ? Json(import_names(*installed)) : Json::array()}});
  }
  if (options.json) return fmt::print("{}\n", list.dump(2)), Exit::Good;
  if (list.empty()) fmt::print("this project uses no package\n");
  for (const Json& each : list) {
    fmt::print("{} {}  from {}\n", each["name"].get<std::string>(), each["version"].get<std::string>(), each["source"].get<std::string>());
    if (!each["usable"].get<bool>()) fmt::print("  {}\n", each["problem"].get<std::string>());
    for (const Json& name : each["imports"]) fmt::print("  import {}\n", name.get<std::string>());
  }
  return Exit::Good;
}

Exit list_registry(const ListOptions& options) {
  const auto folder = registry_folder(options.registry);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  const auto names = package::packages_in(*folder);
  if (!names) return complain(names.error()), Exit::Misuse;
  Json list = Json::array();
  for (const std::string& name : *names) {
    Json versions = Json::array();
    for (const package::Version& version : package::versions_in(*folder, name)) versions.push_back(version.text());
    if (!versions.empty()) list.push_back({{"name", name}, {"versions", std::move(versions)}});
  }
  if (options.json) return fmt::print("{}\n", list.dump(2)), Exit::Good;
  if (list.empty()) fmt::print("the registry holds no package\n");
  for (const Json& each : list) {
    fmt::print("{}", each["name"].get<std::string>());
    for (const Json& version : each["versions"]) fmt::print(" {}", version.get<std::string>());
    fmt::print("\n");
  }
  return Exit::Good;
}

}  // namespace

void add_list(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "List the packages of this project, or of a registry");
  command->add_option("--registry", options->registry, "a registry of this project's allot.toml, or a folder");
  command->add_flag("--json", options->json, "one JSON array: a package an element");
  command->footer("examples:\n  allot list\n  allot list --registry team\n"
                  "exit status: 0 listed, 2 no project, or no such registry");
  command->callback([options, &exit] { exit = options->registry.empty() ? list_project(*options) : list_registry(*options); });
}

}  // namespace allot::cli
