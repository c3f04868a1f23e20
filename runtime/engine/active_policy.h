// The policy that a run is under, read from its folder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "common/result.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/swap.h"

namespace allot::engine {

// The version that decides, or of a run that has ended: that will when it is resumed. What the run has announced last, or
// where that is not known or older (another process may have gone on from the barrier before), what the last barrier wrote.
// An error says what is missing.
Result<ActiveVersion> active_version(const std::filesystem::path& run);
// Its policy, with its parameters.
Result<std::shared_ptr<Policy>> active_policy(const std::filesystem::path& run);

// The active version, where it came after the last barrier: the journal does not tell of it yet.
std::optional<ActiveVersion> version_since_barrier(const std::filesystem::path& run);

}  // namespace allot::engine
