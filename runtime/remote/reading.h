// Numbers and lists out of a text that somebody else wrote. All of these throw std::exception for anything else.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/events.h"

namespace allot::remote {

[[noreturn]] void refuse(const char* what);

// nlohmann's own conversion cuts what does not fit.
int whole(const nlohmann::ordered_json& json);
std::uint64_t counter(const nlohmann::ordered_json& json);
// Of what happened in one call: 0 to 2^40, so that sums of them fit.
std::int64_t amount(const nlohmann::ordered_json& json);
std::vector<int> wholes(const nlohmann::ordered_json& json);
std::vector<engine::RolloutRef> read_rollouts(const nlohmann::ordered_json& json);

}  // namespace allot::remote
