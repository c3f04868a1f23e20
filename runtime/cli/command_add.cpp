// allot add: packages into a project.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "lang/diagnostics.h"
#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/packages.h"
#include "runtime/package/exchange/bundle.h"
#include "runtime/package/exchange/install.h"
#include "runtime/package/exchange/project_lock.h"
#include "runtime/package/exchange/registry.h"
#include "runtime/package/exchange/resolve.h"

namespace allot::cli {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using package::Source;

struct AddOptions {
  std::string what;
  std::string registry;
  std::string revision;
  bool git = false;
  bool downgrade = false;
  bool json = false;
};

bool is_address(const std::string& what) { return what.find("://") != std::string::npos; }

Source path_source(const std::string& what, const fs::path& root) {
  std::error_code failure;
  const fs::path whole = fs::weakly_canonical(fs::absolute(what, failure), failure);
  return {Source::Kind::Path, fs::path(what).is_absolute() ? whole.string() : whole.lexically_relative(root).generic_string(), "", ""};
}

// A bundle's address may go on with a query, such as a signature of who may fetch it.
bool is_bundle_address(const std::string& what) {
  return is_address(what) && what.substr(0, what.find_first_of("?#")).ends_with(package::bundle_ending);
}

// NAME or NAME@VERSION in `registry`, which may be empty where the project has one; without a version the newest.
Result<Source> registry_source(const std::string& what, const std::string& registry, const Here& here, const std::string& name,
                               const std::string& version) {
  const auto& registries = here.project.registries;
  if (registry.empty() && registries.size() != 1) {
    return Error{fmt::format("{} is no folder, no bundle and no address, and the project names {} registries", what, registries.size()),
                 registries.empty() ? "[registries] in allot.toml names them: team = \"/a/folder\"" : "say which with --registry NAME"};
  }
  const auto it = registry.empty() ? registries.begin() : registries.find(registry);
  if (it == registries.end()) return Error{fmt::format("allot.toml names no registry `{}`", registry), "add it to [registries]"};
  Source source{Source::Kind::Registry, it->first, version, ""};
  if (!version.empty()) {
    if (const auto parsed = package::parse_version(version); !parsed) return parsed.error();
    return source;
  }
  if (is_address(it->second)) {
    return Error{fmt::format("the registry `{}` is an address, which does not tell its versions", it->first),
                 fmt::format("say which: allot add {}@1.0.0", name)};
  }
  const auto versions = package::versions_in(here.root / it->second, name);
  if (versions.empty()) {
    const auto all = package::packages_in(here.root / it->second);
    if (!all) return all.error();
    const std::string near = lang::near_match(name, *all);
    return Error{fmt::format("the registry `{}` has no package {}", it->first, name),
                 near.empty() ? fmt::format("`allot list --registry {}` lists them", it->first) : fmt::format("did you mean {}?", near)};
  }
  source.wanted = versions.back().text();
  return source;
}

Result<Source> source_of(const AddOptions& options, const Here& here) {
  const std::string& what = options.what;
  const bool repository = options.git || !options.revision.empty() || what.ends_with(".git") || what.starts_with("ssh://") ||
                          what.starts_with("git@");
  std::error_code failure;
  if (repository) {
    // git is asked from elsewhere, and the lock names a place that is the same from everywhere.
    const bool folder = !is_address(what) && fs::is_directory(what, failure);
    return Source{Source::Kind::Git, folder ? fs::canonical(what, failure).string() : what, options.revision, ""};
  }
  if (is_bundle_address(what)) return Source{Source::Kind::Url, what, "", ""};
  if (is_address(what)) {
    return Error{fmt::format("{} is no bundle: its name does not end in {}", what, package::bundle_ending),
                 "for a repository say --git"};
  }
  const std::size_t at = what.find('@');
  const std::string name = what.substr(0, at);
  const auto& all = here.project.dependencies;
  const auto known = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  // A folder may be called as a package is: that one is ./NAME where the name means the package.
  const bool is_name = !options.registry.empty() || known != all.end();
  if (!is_name && fs::exists(what, failure)) return path_source(what, here.root);
  if (!package::is_package_name(name)) {
    if (!options.registry.empty()) return Error{fmt::format("{} is no name of a package", what), "with --registry name NAME or NAME@VERSION"};
    return Error{fmt::format("there is no {}", what), "name a folder, a bundle, an address, or NAME@VERSION of a registry"};
  }
  std::string registry = options.registry;
  if (registry.empty() && known != all.end()) {
    const bool of_registry = known->source.kind == Source::Kind::Registry;
    if (!of_registry && at == std::string::npos) return known->source;
    if (of_registry) registry = known->source.address;
  }
  return registry_source(what, registry, here, name, at == std::string::npos ? "" : what.substr(at + 1));
}

struct Change {
  std::string word;  // added, updated, kept
  const package::Locked* locked = nullptr;
};

std::vector<Change> changes(const package::Lock& before, const package::Lock& after) {
  std::vector<Change> all;
  for (const package::Locked& each : after.packages) {
    const package::Locked* const old = before.find(each.name);
    all.push_back({old == nullptr ? "added" : old->hash == each.hash ? "kept" : "updated", &each});
  }
  return all;
}

void show(const package::Resolution& resolution, const Here& here, const std::string& name, const AddOptions& options) {
  Json list = Json::array();
  for (const Change& change : changes(here.lock, resolution.lock)) {
    const package::Locked& locked = *change.locked;
    const package::Package& package = resolution.packages.at(locked.name);
    const auto signers = package::signers(package.listing, package.signatures, here.project.keys);
    const std::vector<package::Signer> known = signers ? *signers : std::vector<package::Signer>();
    if (options.json) {
      Json object = to_json(package, known);
      object["change"] = change.word;
      object["source"] = locked.source.text();
      list.push_back(std::move(object));
      continue;
    }
    fmt::print("{:<8} {} {}  from {}  sha256 {}  {}\n", change.word, locked.name, locked.version.text(),
               lang::shown_in_line(locked.source.text()), locked.hash.substr(0, 12), in_words(known));
    if (locked.name != name) continue;
    for (const std::string& import : import_names(package)) fmt::print("         import {}\n", import);
  }
  if (options.json) return fmt::print("{}\n", list.dump(2));
  if (resolution.lock.packages.empty()) fmt::print("allot.toml names no package\n");
}

Exit add(const AddOptions& options) {
  auto found = maybe_project_here();
  if (!found) return complain(found.error()), Exit::Misuse;
  if (!*found && options.what.empty()) return complain(project_here().error()), Exit::Misuse;
  std::error_code failure;
  const package::ProjectLock lock(*found ? (*found)->root : fs::canonical(".", failure), [] {
    fmt::print(stderr, "allot: another `allot add` is at work in this project; waiting for it\n");
  });
  found = maybe_project_here();  // whoever had the lock may have changed it
  if (!found) return complain(found.error()), Exit::Misuse;
  const bool fresh = !*found;
  Here here = fresh ? Here{fs::canonical(".", failure), {}, {}} : **std::move(found);
  package::Wishes wishes;
  wishes.downgrade = options.downgrade;
  std::string project_text, name;
  if (!options.what.empty()) {
    const auto source = source_of(options, here);
    if (!source) return complain(source.error()), Exit::Misuse;
    auto fetched = package::obtain(*source, source->kind == Source::Kind::Registry ? options.what.substr(0, options.what.find('@')) : "",
                                   here.root, here.project.registries);
    if (!fetched) return complain(fetched.error()), Exit::Failed;
    name = fetched->package.project.name;
    if (!fresh) {
      const auto text = package::read_file(here.root / package::project_file, 1 << 20);
      if (!text) return complain(text.error()), Exit::Misuse;
      project_text = *text;
    }
    const auto changed = package::with_dependency(project_text, {name, *source});
    if (!changed) return complain(changed.error()), Exit::Failed;
    project_text = *changed;
    here.project = *package::parse_project(project_text, std::string(package::project_file));
    wishes.renew.insert(name);
    wishes.at_hand.emplace(name, *std::move(fetched));
  }
  const auto resolution = package::resolve(here.root, here.project, here.lock, wishes);
  if (!resolution) return complain(resolution.error()), Exit::Failed;
  if (const auto installed = package::install(here.root, *resolution, project_text); !installed) {
    return complain(installed.error()), Exit::Failed;
  }
  if (fresh) fmt::print(stderr, "allot: this folder is a project now: allot.toml names its packages, allot.lock their hashes\n");
  show(*resolution, here, name, options);
  return Exit::Good;
}

}  // namespace

void add_add(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* command = app.add_subcommand("add", "Add a package to this project, update it, or install what allot.lock names");
  command->add_option("WHAT", options->what,
                      "a folder with an allot.toml, a bundle (NAME-VERSION.tar.zst), its https address, a git repository, or "
                      "NAME[@VERSION] of a registry; a package that is named already is asked for again (a folder called "
                      "so is ./NAME); nothing: what allot.toml and allot.lock name");
  command->add_option("--registry", options->registry, "the registry that NAME is of, by its name in allot.toml");
  command->add_flag("--git", options->git, "WHAT is a git repository, whatever it looks like");
  command->add_option("--rev", options->revision, "the tag, branch or commit of the repository");
  command->add_flag("--downgrade", options->downgrade, "a lower version than the one in allot.lock is meant");
  command->add_flag("--json", options->json, "one JSON array: a package of the project an element");
  command->footer(
      "Its policies are then imported by the package's name: `import gates.converge` is converge.allot in the package gates.\n"
      "What is fetched is checked as a whole before any of it is written: names, sizes, the list of files with their hashes\n"
      "and, where allot.toml has [keys], a signature by one of them. It lies in .allot/, and allot.lock pins every byte.\n"
      "examples:\n"
      "  allot add ../gates\n"
      "  allot add gates-1.2.0.tar.zst\n"
      "  allot add https://example.org/gates-1.2.0.tar.zst\n"
      "  allot add https://example.org/team/gates.git --rev v1.2.0\n"
      "  allot add gates@1.2.0 --registry team\n"
      "  allot add                                        install everything, as after a fresh clone\n"
      "exit status: 0 done, 1 refused, with the reason; 2 it could not be asked");
  command->callback([options, &exit] { exit = add(*options); });
}

}  // namespace allot::cli
