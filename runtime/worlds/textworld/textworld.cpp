#include "runtime/worlds/textworld/textworld.h"

#include <system_error>

#include "runtime/worlds/process/process_world.h"

namespace allot::worlds::textworld {
namespace {

namespace fs = std::filesystem;

const fs::path source_folder = ALLOT_TEXTWORLD_FOLDER;

// A game is a .z8 with the .json that TextWorld writes beside it.
bool has_games(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path& file = entry.path();
    if (file.extension() == ".z8" && fs::exists(fs::path(file).replace_extension(".json"), ignored)) return true;
  }
  return false;
}

std::string python_of(const Options& options) {
  if (!options.python.empty()) return options.python.string();
  const fs::path own = source_folder.parent_path().parent_path().parent_path() / ".venv/bin/python";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own.string() : "python3";
}

}  // namespace

Result<std::unique_ptr<World>> open_textworld(const Options& options) {
  const std::string python = python_of(options);
  const std::string folder = options.games.empty() ? "GAMES" : options.games.string();
  const std::string maker = (source_folder / "make_games.py").string();
  const std::string help = "make some with: " + python + " " + maker + " " + folder;
  std::error_code ignored;
  if (options.games.empty()) return Error{"The world textworld needs a folder of games.", help};
  if (!fs::is_directory(options.games, ignored)) return Error{"There is no folder of games at `" + folder + "`.", help};
  if (!has_games(options.games) && !has_games(options.games / "training") && !has_games(options.games / "held_out")) {
    return Error{"There are no TextWorld games (.z8 files, each with its .json) in `" + folder + "`.", help};
  }
  if (options.children < 1 || options.turn_limit < 1 || options.observation_words < 1 || options.vocabulary < 1) {
    return Error{"The options of the world textworld start at 1: children, turns, words, vocabulary.", {}};
  }
  const fs::path script = options.script.empty() ? source_folder / "textworld_world.py" : options.script;
  const process::Options child{
      .command = {python, script.string(), "--games", folder, "--style",
                  options.style == Style::Full ? "full" : "brief", "--turn-limit", std::to_string(options.turn_limit),
                  "--words", std::to_string(options.observation_words), "--vocabulary",
                  std::to_string(options.vocabulary)},
      .children = options.children,
      .hello_timeout = std::chrono::milliseconds(options.hello_timeout_ms),
      .reply_timeout = std::chrono::milliseconds(options.reply_timeout_ms)};
  return process::open_process(child);
}

}  // namespace allot::worlds::textworld
