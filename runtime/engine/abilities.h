// What a driver can do, in the words in which a person says it.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/events.h"

namespace allot::engine {

// "defers", "scores", "shapes", "replays", "losses"; no other word.
Result<Abilities> abilities_from(const std::vector<std::string>& words);

}  // namespace allot::engine
