#include "runtime/training/run/world_choice.h"

#include <sstream>

#include "runtime/worlds/make_world.h"

namespace allot::training {

Result<std::unique_ptr<worlds::World>> choose_world(const RunOptions& options) {
  worlds::WorldOptions world;
  world.textworld.games = options.games;
  world.textworld.children = options.worlds;
  world.process.children = options.worlds;
  std::istringstream words(options.world_command);
  for (std::string word; words >> word;) world.process.command.push_back(word);
  return worlds::make_world(options.world, world);
}

}  // namespace allot::training
