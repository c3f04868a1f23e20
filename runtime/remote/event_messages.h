// Events as a client sends them, in the journal's form (engine/event_log.h). The journal's reader trusts its own
// checksums, so what it relies on is looked at here.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/event_log.h"

namespace allot::remote {

// Throws std::exception where the text has another form, or a number that no event can have.
engine::LoggedIteration read_checked_events(const nlohmann::ordered_json& record);

// Whether it travels: with its matrices it must fit into a frame, and the engine makes room for an embedding of every
// sample of a group.
Result<void> check_size(const engine::MicroBatch& batch);

}  // namespace allot::remote
