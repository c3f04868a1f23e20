// allot check: are these policies right? Nothing is run.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "lang/cost.h"
#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> settings;
  bool json = false;
  std::int64_t max_cost = 0;         // 0: no limit
  lang::Sizes sizes = lang::usual_sizes;  // rollouts of a group, groups, prompts, turns, units of an allotment
};

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string summary(const lang::Program& program) {
  std::string text = fmt::format("policy {}: {}", program.name, counted(program.handlers.size(), "handler"));
  if (!program.parameters.empty()) text += ", " + counted(program.parameters.size(), "parameter");
  if (!program.states.empty()) text += ", " + counted(program.states.size(), "state");
  if (program.tree && !program.tree->tests.empty()) text += ", " + counted(program.tree->tests.size(), "test");
  if (program.tree && !program.tree->scenarios.empty()) text += ", " + counted(program.tree->scenarios.size(), "scenario");
  return text;
}

// The handlers that can cost more than is allowed, each in words.
std::vector<std::string> too_costly(const lang::Program& program, const CheckOptions& options) {
  std::vector<std::string> found;
  for (const lang::Handler& handler : program.handlers) {
    const lang::Polynomial cost = lang::worst_cost(handler);
    const std::int64_t worst = cost.at(options.sizes);
    if (options.max_cost == 0 || worst <= options.max_cost) continue;
    found.push_back(fmt::format("{}: `on {}` can cost {} evaluations ({}), more than {}",
                                where(*program.source, handler.span.begin), handler.text, worst, cost.text(),
                                options.max_cost));
  }
  return found;
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
    const auto costly = file->program ? too_costly(*file->program, options) : std::vector<std::string>();
    const bool good = file->program.has_value() && settings_error.empty() && costly.empty();
    if (!settings_error.empty()) exit = Exit::Misuse;
    if (!good && exit == Exit::Good) exit = Exit::Failed;
    if (options.json) {
      all.push_back(to_json(*file, settings_error));
      if (options.max_cost > 0) all.back()["too_costly"] = costly;
      if (!costly.empty()) all.back()["ok"] = false;
    } else {
      show_diagnostics(*file);
      for (const std::string& handler : costly) complain({fmt::format("{}: {}", path.string(), handler), ""});
      if (good) fmt::print("{}: ok ({})\n", path.string(), summary(*file->program));
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return exit;
}

CLI::Validator above_zero() {
  return CLI::Validator(
      [](std::string& text) {
        const std::size_t digit = text.find_first_not_of("0+");
        const bool good = digit != std::string::npos && text.find_first_not_of("0123456789", digit) == std::string::npos;
        return good ? std::string() : fmt::format("'{}' is no whole number above 0", text);
      },
      "");
}

}  // namespace

void add_check(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Check policies: syntax, names, types, units, undefined values");
  command->add_option("FILE", options->files, "policy files; a folder stands for every .allot file in it; - is stdin")
      ->required();
  command->add_option("--set", options->settings, "give a parameter a value: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  CLI::Option* max_cost =
      command->add_option("--max-cost", options->max_cost,
                          "fail where a handler's worst case is more evaluations than this, at the sizes below")
          ->check(above_zero());
  constexpr const char* names[] = {"--rollouts", "--groups", "--prompts", "--turns", "--units"};
  constexpr const char* meanings[] = {"of a group, for --max-cost", "of a batch", "of a batch or pool", "of a rollout",
                                       "given out by one `allot`"};
  for (std::size_t i = 0; i < options->sizes.size(); ++i) {
    command->add_option(names[i], options->sizes[i], meanings[i])
        ->needs(max_cost)
        ->check(above_zero())
        ->capture_default_str();
  }
  command->add_flag("--json", options->json, "one JSON array: a file and its diagnostics an element");
  command->footer("examples:\n  allot check early.allot\n  allot check stdlib --json\n"
                  "  allot check early.allot --set threshold=0.2\n"
                  "  allot check early.allot --max-cost 10000 --rollouts 16 --turns 50\n"
                  "exit status: 0 right, 1 errors in a policy, 2 a file that cannot be read or a wrong option");
  command->callback([options, &exit] { exit = check(*options); });
}

}  // namespace allot::cli
