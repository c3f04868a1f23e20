// allot explain: what a policy reads, keeps, costs and decides.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "runtime/cli/command.h"
#include "runtime/cli/example.h"
#include "runtime/cli/explanation.h"
#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace {

struct ExplainOptions {
  std::string file;
  std::vector<std::string> settings;
  bool json = false;
};

nlohmann::ordered_json to_json(const std::vector<ExampleGroup>& groups) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ExampleGroup& group : groups) {
    list.push_back({{"description", group.description},
                    {"fate", group.fate},
                    {"started", group.started},
                    {"turns", group.turns},
                    {"trained_on", group.trained_on},
                    {"reason", group.reason},
                    {"rule", group.rule}});
  }
  return list;
}

Exit explain(const ExplainOptions& options) {
  const auto settings = parse_settings(options.settings);
  if (!settings) return complain(settings.error()), Exit::Misuse;
  if (std::error_code ignored; std::filesystem::is_directory(options.file, ignored)) {
    complain({fmt::format("{} is a folder, and one policy is explained at a time", options.file),
              fmt::format("name a file; `allot check {}` lists the policies in it", options.file)});
    return Exit::Misuse;
  }
  const Result<PolicyFile> file = read_policy(options.file);
  if (!file) return complain(file.error()), Exit::Misuse;
  show_diagnostics(*file);
  if (!file->program) return Exit::Failed;
  const auto parameters = lang::bind(*file->program, *settings);
  if (!parameters) return complain(parameters.error()), Exit::Misuse;

  nlohmann::ordered_json document = explanation(*file->program, *parameters);
  if (options.file != "-") {  // the engine reads the file by itself
    const auto examples = decide_examples(options.file, *settings);
    if (examples) {
      document["example_rollouts"] = example_rollouts;
      document["example_turns"] = example_turns;
      document["examples"] = to_json(*examples);
    } else {  // the rest is true all the same
      complain({"there are no example groups: " + examples.error().what, examples.error().help});
    }
  }
  fmt::print("{}", options.json ? document.dump(2) + "\n" : explanation_text(document));
  return Exit::Good;
}

}  // namespace

void add_explain(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Tell what a policy reads, keeps, costs and decides");
  command->add_option("FILE", options->file, "a policy file; - is stdin (without the example groups)")->required();
  command->add_option("--set", options->settings, "give a parameter a value: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "the same as one JSON object");
  command->footer("examples:\n  allot explain stdlib/selective_rollout.allot\n"
                  "  allot explain early.allot --set at=5 --json\n"
                  "exit status: 0 explained, 1 errors in the policy, 2 a file that cannot be read or a wrong option");
  command->callback([options, &exit] { exit = explain(*options); });
}

}  // namespace allot::cli
