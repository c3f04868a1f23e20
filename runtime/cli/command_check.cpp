// allot check: are these policies right? Nothing is run.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> settings;
  bool json = false;
};

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string summary(const lang::Program& program) {
  std::string text = fmt::format("policy {}: {}", program.name, counted(program.handlers.size(), "handler"));
  if (!program.parameters.empty()) text += ", " + counted(program.parameters.size(), "parameter");
  if (!program.states.empty()) text += ", " + counted(program.states.size(), "state");
  if (program.tree && !program.tree->tests.empty()) text += ", " + counted(program.tree->tests.size(), "test");
  return text;
}

// The checked file as one JSON object; `settings` is what --set said of it, empty where nothing is wrong.
Json to_json(const PolicyFile& file, const std::string& settings_error) {
  Json object = {{"file", file.source->name()}, {"ok", file.program.has_value() && settings_error.empty()}};
  if (file.program) {
    object["policy"] = file.program->name;
    object["sha256"] = file.program->hash;
  }
  object["diagnostics"] = Json::parse(lang::render_json(file.diagnostics, *file.source));
  if (!settings_error.empty()) object["settings_error"] = settings_error;
  return object;
}

Exit check(const CheckOptions& options) {
  const auto settings = parse_settings(options.settings);
  const auto files = find_policies(options.files);
  if (!settings || !files) {
    complain(!settings ? settings.error() : files.error());
    return Exit::Misuse;
  }
  Exit exit = Exit::Good;
  Json all = Json::array();
  for (const auto& path : *files) {
    const Result<PolicyFile> file = read_policy(path);
    if (!file) {
      complain(file.error());
      all.push_back({{"file", path.string()}, {"ok", false}, {"unreadable", file.error().what}});
      exit = Exit::Misuse;
      continue;
    }
    std::string settings_error;
    if (file->program) {
      if (const auto bound = lang::bind(*file->program, *settings); !bound) {
        settings_error = bound.error().what;
        complain({fmt::format("{}: {}", path.string(), bound.error().what), bound.error().help});
      }
    }
    const bool good = file->program.has_value() && settings_error.empty();
    if (!settings_error.empty()) exit = Exit::Misuse;
    if (!good && exit == Exit::Good) exit = Exit::Failed;
    if (options.json) {
      all.push_back(to_json(*file, settings_error));
    } else {
      show_diagnostics(*file);
      if (good) fmt::print("{}: ok ({})\n", path.string(), summary(*file->program));
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return exit;
}

}  // namespace

void add_check(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Check policies: syntax, names, types, units, undefined values");
  command->add_option("FILE", options->files, "policy files; a folder stands for every .allot file in it; - is stdin")
      ->required();
  command->add_option("--set", options->settings, "give a parameter a value: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "one JSON array: a file and its diagnostics an element");
  command->footer("examples:\n  allot check early.allot\n  allot check stdlib --json\n"
                  "  allot check early.allot --set threshold=0.2\n"
                  "exit status: 0 right, 1 errors in a policy, 2 a file that cannot be read or a wrong option");
  command->callback([options, &exit] { exit = check(*options); });
}

}  // namespace allot::cli
