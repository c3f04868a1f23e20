// allot diff: does this version fit in the place of that one, and what would it decide otherwise?
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "lang/difference.h"
#include "runtime/cli/command.h"
#include "runtime/cli/packages.h"
#include "runtime/cli/policy_file.h"
#include "runtime/cli/run_folder.h"
#include "runtime/package/exchange/bundle.h"
#include "runtime/package/exchange/install.h"
#include "runtime/replay/plan.h"
#include "runtime/replay/rollouts.h"

namespace allot::cli {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using Effect = lang::Difference::Effect;

struct DiffOptions {
  std::string before, after;
  std::string log;
  std::vector<std::string> settings;
  std::size_t most = 20;
  bool json = false;
};

// One side: policies by the path under which they are compared. A policy file alone has the empty path.
struct Side {
  std::string named;
  std::map<std::string, std::shared_ptr<const lang::Program>> policies;
  std::optional<package::UnpackedPackage> unpacked;  // where a bundle is read from; removed at the end
  std::string version;
};

Result<std::shared_ptr<const lang::Program>> program_in(const fs::path& path) {
  auto file = read_policy(path);
  if (!file) return file.error();
  if (!file->program) {
    show_diagnostics(*file);
    return Error{fmt::format("{} has errors, so it cannot be compared", path.string()), ""};
  }
  return std::make_shared<const lang::Program>(*std::move(file->program));
}

Result<Side> read_side(const std::string& named) {
  Side side;
  side.named = named;
  std::error_code failure;
  const bool folder = fs::is_directory(named, failure);
  if (!folder && !named.ends_with(package::bundle_ending)) {
    auto program = program_in(named);
    if (!program) return program.error();
    side.policies.emplace("", *std::move(program));
    return side;
  }
  const auto package = package::read_package(named);
  if (!package) return package.error();
  side.version = fmt::format("{} {}", package->project.name, package->project.version->text());
  fs::path root = named;
  if (!folder) {
    const auto here = maybe_project_here();
    auto unpacked = package::unpack_for_reading(*package, here && *here ? (*here)->root : fs::path());
    if (!unpacked) return unpacked.error();
    side.unpacked.emplace(*std::move(unpacked));
    root = side.unpacked->path();
  }
  for (const auto& [path, bytes] : package->files) {
    if (!path.ends_with(".allot")) continue;
    auto program = program_in((root / path).lexically_normal());
    if (!program) return program.error();
    side.policies.emplace(path, *std::move(program));
  }
  return side;
}

std::string_view word(Effect effect) {
  return effect == Effect::Breaks ? "breaks" : effect == Effect::Decides ? "decides" : "adds";
}

Json to_json(const std::vector<lang::Difference>& differences) {
  Json list = Json::array();
  for (const lang::Difference& each : differences) {
    list.push_back({{"effect", word(each.effect)}, {"part", each.part}, {"name", each.name}, {"words", each.words}});
  }
  return list;
}

// The log of a run folder, or the file itself.
Result<fs::path> log_file(const std::string& named) {
  std::error_code failure;
  if (!fs::is_directory(named, failure)) return fs::path(named);
  const auto folder = journal_folder(named);
  if (!folder) return folder.error();
  return rollouts_of(*folder);
}

// Settings that both versions know; those of a parameter that came or went go to the one that has it.
Result<replay::Report> back_test(const std::shared_ptr<const lang::Program>& program, const std::map<std::string, std::string>& settings,
                                 const fs::path& log) {
  std::map<std::string, std::string> known;
  for (const lang::Parameter& each : program->parameters) {
    if (const auto it = settings.find(each.name); it != settings.end()) known.insert(*it);
  }
  const auto parameters = lang::bind(*program, known);
  if (!parameters) return parameters.error();
  return replay::replay_rollouts(program, *parameters, log);
}

// Whether a log can ask it anything; a library of functions has no handler.
bool can_be_asked(const lang::Program& program) { return !program.handlers.empty(); }

Json side_json(const replay::Outcome& outcome, const std::string& fate) {
  return {{"fate", fate}, {"rule", outcome.rule}, {"reason", outcome.reason}};
}

Result<Json> on_log(const std::shared_ptr<const lang::Program>& before, const std::shared_ptr<const lang::Program>& after,
                    const DiffOptions& options) {
  const auto settings = parse_settings(options.settings);
  if (!settings) return settings.error();
  for (const auto& [name, value] : *settings) {
    const auto has = [&](const lang::Program& program) {
      return std::any_of(program.parameters.begin(), program.parameters.end(), [&](const auto& each) { return each.name == name; });
    };
    if (!has(*before) && !has(*after)) return Error{fmt::format("neither version has a parameter {}", name), ""};
  }
  const auto log = log_file(options.log);
  if (!log) return log.error();
  const auto was = back_test(before, *settings, *log);
  if (!was) return was.error();
  const auto is = back_test(after, *settings, *log);
  if (!is) return is.error();
  const replay::Plan plan = replay::compare(*was, *is);
  Json json = {{"log", log->string()}, {"groups", plan.groups}, {"changed", plan.changes.size()}, {"counts", plan.counts}, {"changes", Json::array()}};
  for (const replay::Change& each : plan.changes) {
    json["changes"].push_back({{"group", each.group}, {"before", side_json(each.was, each.before)}, {"after", side_json(each.becomes, each.after)}});
  }
  json["notes"] = plan.notes;
  return json;
}

Result<Json> compare(const Side& before, const Side& after, const DiffOptions& options) {
  bool compatible = true;
  Json policies = Json::array();
  std::set<std::string> paths;
  for (const auto* side : {&before, &after}) {
    for (const auto& [path, program] : side->policies) paths.insert(path);
  }
  for (const std::string& path : paths) {
    const auto was = before.policies.find(path), is = after.policies.find(path);
    Json one = {{"file", path}};
    if (is == after.policies.end()) {
      one["differences"] = to_json({{Effect::Breaks, "policy", path, "is gone: policies that import it are refused"}});
      compatible = false;
    } else if (was == before.policies.end()) {
      one["differences"] = to_json({{Effect::Adds, "policy", path, "is new"}});
    } else {
      const auto found = lang::differences(*was->second, *is->second);
      compatible = compatible && lang::compatible(found);
      one["differences"] = to_json(found);
      one["same"] = was->second->hash == is->second->hash;
      if (!options.log.empty() && can_be_asked(*was->second) && can_be_asked(*is->second)) {
        auto decided = on_log(was->second, is->second, options);
        if (!decided) return decided.error();
        one["on_log"] = *std::move(decided);
      }
    }
    policies.push_back(std::move(one));
  }
  return Json{{"before", before.named}, {"after", after.named}, {"compatible", compatible}, {"policies", std::move(policies)}};
}

void print_log(const Json& json, std::size_t most) {
  fmt::print("on {}: {} of {} groups are decided otherwise\n", json["log"].get<std::string>(), json["changed"].get<std::size_t>(),
             json["groups"].get<int>());
  for (const auto& [change, count] : json["counts"].items()) fmt::print("  {:<40} {:>5}\n", change, count.get<int>());
  std::size_t told = 0;
  for (const Json& change : json["changes"]) {
    if (told++ == most) break;
    const Json& decided = change["after"]["rule"].get<std::string>().empty() ? change["before"] : change["after"];
    const std::string reason = decided["reason"].get<std::string>();
    fmt::print("  group {}: {} -> {}{}  [{}]\n", change["group"].get<std::string>(), change["before"]["fate"].get<std::string>(),
               change["after"]["fate"].get<std::string>(), reason.empty() ? "" : " because \"" + reason + "\"", decided["rule"].get<std::string>());
  }
  if (json["changes"].size() > most) fmt::print("  and {} more (--json tells of all)\n", json["changes"].size() - most);
  for (const Json& note : json["notes"]) fmt::print("note: {}\n", note.get<std::string>());
}

void print(const Json& json, const DiffOptions& options) {
  for (const Json& policy : json["policies"]) {
    const std::string file = policy["file"].get<std::string>();
    if (policy["differences"].empty() && !policy.contains("on_log")) continue;
    if (!file.empty()) fmt::print("{}\n", file);
    for (const Json& each : policy["differences"]) {
      fmt::print("  {:<8} {} {} {}\n", each["effect"].get<std::string>(), each["part"].get<std::string>(), each["name"].get<std::string>(),
                 each["words"].get<std::string>());
    }
    if (policy.contains("on_log")) print_log(policy["on_log"], options.most);
  }
  fmt::print("{}\n", json["compatible"].get<bool>() ? "compatible: what fits the one fits the other" : "not compatible");
}

Exit diff(const DiffOptions& options) {
  const auto before = read_side(options.before);
  if (!before) return complain(before.error()), Exit::Misuse;
  const auto after = read_side(options.after);
  if (!after) return complain(after.error()), Exit::Misuse;
  if (before->policies.contains("") != after->policies.contains("")) {
    return complain({"one is a policy and the other a package", "name two of a kind"}), Exit::Misuse;
  }
  const auto json = compare(*before, *after, options);
  if (!json) return complain(json.error()), Exit::Misuse;
  options.json ? fmt::print("{}\n", json->dump(2)) : print(*json, options);
  return (*json)["compatible"].get<bool>() ? Exit::Good : Exit::Failed;
}

}  // namespace

void add_diff(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Say whether a version fits in the place of another, and what it decides otherwise");
  command->add_option("BEFORE", options->before, "a policy file, or a package: its folder or bundle")->required();
  command->add_option("AFTER", options->after, "the same, of the version that is to come")->required();
  command->add_option("--on", options->log, "also ask both about a run folder, or a log of rollouts in the schema rollout/1");
  command->add_option("--set", options->settings, "with --on, give a parameter a value in both: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  command->add_option("--most", options->most, "groups to tell of")->capture_default_str();
  command->add_flag("--json", options->json, "everything, as one JSON object");
  command->footer(
      "breaks   a setting, an input, an import or what was remembered does not fit any more\n"
      "decides  all fits, decisions may be others\n"
      "adds     nothing that was there is touched\n"
      "examples:\n  allot diff gates-1.0.0.tar.zst gates\n  allot diff old.allot new.allot --on runs/first\n"
      "exit status: 0 compatible, 1 not, 2 a policy or log that cannot be read");
  command->callback([options, &exit] { exit = diff(*options); });
}

}  // namespace allot::cli
