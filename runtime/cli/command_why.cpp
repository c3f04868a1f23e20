// allot why: everything about one group of a run, with the values that each decision read.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>

#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/story.h"

namespace allot::cli {

namespace {

struct WhyOptions {
  std::string run;
  int group = -1;
  bool json = false;
};

Exit why(const WhyOptions& options) {
  const auto folder = journal_folder(options.run);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  const auto format = options.json ? engine::StoryFormat::Json : engine::StoryFormat::Words;
  const auto story = engine::tell_group(*folder, options.group, format);
  if (!story) return complain(story.error()), Exit::Misuse;
  fmt::print("{}{}", options.json ? *story : lang::shown(*story), story->empty() || story->ends_with('\n') ? "" : "\n");
  return Exit::Good;
}

}  // namespace

void add_why(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = app.add_subcommand("why", "Tell why a group ended as it did");
  command->add_option("RUN", options->run, "a run folder, or the folder of one of its arms")->required();
  command->add_option("GROUP", options->group, "the number of a group, as `allot log` shows it")
      ->required()
      ->check(CLI::Validator(
          [](std::string& text) {
            const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            return digits && text.size() < 10 ? std::string{} : fmt::format("'{}' is no number of a group (0, 1, 2, …)", text);
          },
          ""));
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("example:\n  allot why runs/household-1 12\nexit status: 0 told, 2 no such run or group");
  command->callback([options, &exit] { exit = why(*options); });
}

}  // namespace allot::cli
