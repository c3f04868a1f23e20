// Orders as the server sends them.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/events.h"
#include "runtime/engine/json_text.h"

namespace allot::remote {

void put_rollouts(engine::JsonText& text, const std::vector<engine::RolloutRef>& rollouts);
void put_orders(engine::JsonText& text, const engine::Orders& orders);
// Throws std::exception where the text has another form.
engine::Orders read_orders(const nlohmann::ordered_json& json);

}  // namespace allot::remote
