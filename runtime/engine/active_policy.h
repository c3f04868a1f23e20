// The policy that a run is under, read from its folder.
#pragma once

#include <filesystem>
#include <memory>

#include "common/result.h"
#include "runtime/engine/policy.h"

namespace allot::engine {

// As of the last barrier, with its parameters; before the first, what the run announces. An error says what is missing.
Result<std::shared_ptr<Policy>> active_policy(const std::filesystem::path& run);

}  // namespace allot::engine
