// allot log: what was decided in a run, told from its journal.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/story.h"

namespace allot::cli {

namespace {

struct LogOptions {
  std::string run;
  bool continues = false;
  bool json = false;
};

Exit log(const LogOptions& options) {
  const auto folder = journal_folder(options.run);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  const auto format = options.json ? engine::StoryFormat::Json : engine::StoryFormat::Words;
  const auto story = engine::tell_run(*folder, format, options.continues);
  if (!story) return complain(story.error()), Exit::Misuse;
  fmt::print("{}{}", *story, story->empty() || story->ends_with('\n') ? "" : "\n");
  return Exit::Good;
}

}  // namespace

void add_log(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<LogOptions>();
  CLI::App* command = app.add_subcommand("log", "Tell what was decided in a run");
  command->add_option("RUN", options->run, "a run folder, or the folder of one of its arms")->required();
  command->add_flag("--all", options->continues, "also the answers that changed nothing");
  command->add_flag("--json", options->json, "one JSON object a line");
  command->footer("examples:\n  allot log runs/household-1\n  allot log runs/household-1 --json\n"
                  "exit status: 0 told, 2 a folder that is no run");
  command->callback([options, &exit] { exit = log(*options); });
}

}  // namespace allot::cli
