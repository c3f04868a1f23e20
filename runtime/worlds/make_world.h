// Worlds by name, for the command line and the trainer.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/worlds/household/household.h"
#include "runtime/worlds/process/process_world.h"
#include "runtime/worlds/textworld/textworld.h"
#include "runtime/worlds/world.h"

namespace allot::worlds {

// What each world needs; only the part of the world that is made is read.
struct WorldOptions {
  household::Options household{};
  textworld::Options textworld{};
  process::Options process{};
};

std::vector<std::string_view> world_names();  // "household", "process", "textworld"

// Errors: an unknown name (with the nearest one that there is), or what the world itself says.
Result<std::unique_ptr<World>> make_world(std::string_view name, const WorldOptions& options = {});

}  // namespace allot::worlds
