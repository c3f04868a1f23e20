// A group that outlives its iteration, as JSON: one that waits, or one of the replay buffer.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/json_text.h"
#include "runtime/engine/live_group.h"

namespace allot::engine {

// Any real number. Older programs wrote null for what JSON does not know.
double read_real(const nlohmann::json& json);

// Bits, so that a restored value is the same value.
void put_cells(JsonText& text, const StateCells& states);
StateCells read_cells(const nlohmann::json& json);

// None of its rollouts may be running. `of_canary`: it was opened under the canary, which goes on deciding it.
void put_group(JsonText& text, const LiveGroup& group, bool of_canary = false);
// Throws what nlohmann throws where the JSON is of another form.
LiveGroup read_group(const nlohmann::json& json, const StatisticsPlan& plan);

}  // namespace allot::engine
