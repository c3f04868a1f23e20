// TextWorld's games as a world: a folder of games, played by textworld_world.py in child processes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/result.h"
#include "runtime/worlds/world.h"

namespace allot::worlds::textworld {

// Brief: what a player sees, in few words, from the game's own state. Full: the game's text, trimmed and cut.
enum class Style { Brief, Full };

struct Options {
  std::filesystem::path games;        // holds training/*.z8 and held_out/*.z8, or *.z8; made by make_games.py
  std::filesystem::path python;       // with textworld installed; empty: the project's .venv, else python3 of PATH
  std::filesystem::path script;       // empty: the project's textworld_world.py
  Style style = Style::Brief;
  int children = 16;                  // about 70 MB each; as many rollouts can be under way at once
  int turn_limit = 30;
  int observation_words = 60;         // Full only: an observation is cut to so many words
  int vocabulary = 600;               // Full only: at most so many words are kept, the others become <unk>
  int hello_timeout_ms = 120'000;
  int reply_timeout_ms = 30'000;
};

// Errors: no such folder, no games in it (says how to make some), or a child that does not start, such as for want of
// the package textworld.
Result<std::unique_ptr<World>> open_textworld(const Options& options);

}  // namespace allot::worlds::textworld
