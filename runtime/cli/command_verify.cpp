// allot verify: is every byte of these packages what it should be?
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "runtime/cli/command.h"
#include "runtime/cli/packages.h"
#include "runtime/package/exchange/bundle.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  std::vector<std::string> what;
  bool json = false;
};

struct Verdict {
  std::string name;
  std::optional<Error> problem;
  Json json;
  std::string words;
};

Verdict judge(const std::string& name, const Result<package::Package>& package, const std::vector<package::Key>& keys) {
  Verdict verdict{name, std::nullopt, {}, ""};
  if (!package) {
    verdict.problem = package.error();
  } else if (const auto signers = package::signers(package->listing, package->signatures, keys); !signers) {
    verdict.problem = Error{fmt::format("{} is refused: {}", name, signers.error().what), signers.error().help};
  } else {
    verdict.json = to_json(*package, *signers);
    verdict.words = fmt::format("{} {}, {} files, sha256 {}, {}", package->project.name, package->project.version->text(),
                                package->files.size(), package->hash.substr(0, 12), in_words(*signers));
  }
  return verdict;
}

// The first of what it names itself that the lock has not: its files cannot import that.
std::optional<Error> missing_need(const package::Package& package, const package::Lock& lock) {
  for (const package::Dependency& each : package.project.dependencies) {
    if (lock.find(each.name) != nullptr) continue;
    return Error{fmt::format("{} needs {}, which is not in allot.lock", package.project.name, each.name),
                 "`allot add` brings what the packages of this project name"};
  }
  return std::nullopt;
}

// What allot.toml names must be in the lock too, else a policy cannot import it.
std::vector<Verdict> judge_project(const Here& here) {
  std::vector<Verdict> all;
  for (const package::Dependency& each : here.project.dependencies) {
    const package::Locked* const locked = here.lock.find(each.name);
    if (locked != nullptr && locked->source.same(each.source)) continue;
    const std::string what = locked == nullptr ? "is not in allot.lock" : "comes from elsewhere in allot.lock";
    all.push_back({each.name, Error{fmt::format("{} {}", each.name, what), "`allot add` brings what allot.toml names"}, {}, ""});
  }
  for (const package::Locked& locked : here.lock.packages) {
    const auto package = package::read_installed(here.root, locked, here.project.keys);
    Verdict verdict = judge(locked.name, package, here.project.keys);
    if (!verdict.problem) verdict.problem = missing_need(*package, here.lock);
    all.push_back(std::move(verdict));
  }
  return all;
}

Exit verify(const VerifyOptions& options) {
  auto here = maybe_project_here();
  if (!here) return complain(here.error()), Exit::Misuse;
  if (!*here && options.what.empty()) return complain(project_here().error()), Exit::Misuse;
  std::vector<Verdict> all;
  if (options.what.empty()) all = judge_project(**here);
  for (const std::string& what : options.what) {
    all.push_back(judge(what, package::read_package(what), *here ? (*here)->project.keys : std::vector<package::Key>()));
  }
  Exit exit = Exit::Good;
  Json list = Json::array();
  for (Verdict& verdict : all) {
    if (verdict.problem) exit = Exit::Failed;
    if (options.json) {
      Json object = {{"what", verdict.name}, {"ok", !verdict.problem}};
      if (verdict.problem)
        object["problem"] = verdict.problem->what;
      else
        object.update(verdict.json);
      list.push_back(std::move(object));
    } else if (verdict.problem) {
      complain(*verdict.problem);
    } else {
      fmt::print("{}: ok ({})\n", verdict.name, verdict.words);
    }
  }
  if (options.json) fmt::print("{}\n", list.dump(2));
  if (all.empty() && !options.json) fmt::print("this project uses no package\n");
  return exit;
}

}  // namespace

void add_verify(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "Check packages: every file, every hash, every signature");
  command->add_option("WHAT", options->what, "bundles and folders of packages; nothing: those that this project uses");
  command->add_flag("--json", options->json, "one JSON array: a package an element");
  command->footer(
      "Nothing is unpacked and nothing is read as a policy. Where this project's allot.toml has [keys], a package that none\n"
      "of them has signed is refused.\n"
      "examples:\n  allot verify\n  allot verify gates-1.2.0.tar.zst\n"
      "exit status: 0 all are right, 1 one is refused, with the reason; 2 it could not be asked");
  command->callback([options, &exit] { exit = verify(*options); });
}

}  // namespace allot::cli
