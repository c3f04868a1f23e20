// The world that the command line asks for.
#pragma once

#include <memory>

#include "common/result.h"
#include "runtime/training/run/options.h"
#include "runtime/worlds/world.h"

namespace allot::training {

Result<std::unique_ptr<worlds::World>> choose_world(const RunOptions& options);

}  // namespace allot::training
