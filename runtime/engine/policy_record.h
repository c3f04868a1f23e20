// A policy as the journal keeps it: texts, parameters, and what a reader needs who knows nothing of the language.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/policy.h"

namespace allot::engine {

nlohmann::ordered_json policy_record(const Policy& policy);
std::string policy_record_text(const Policy& policy);  // … as JSON

// The policy anew, from the record alone; it answers as it did when it was recorded. An error says that the text is not
// the one whose hash stands beside it, or that this program no longer accepts it.
Result<std::shared_ptr<Policy>> read_policy_record(const nlohmann::ordered_json& record);

// A cell as put_cell() writes it. Throws std::invalid_argument where the JSON is no value of that type.
lang::Cell read_cell(const nlohmann::ordered_json& json, const lang::Type& type);

}  // namespace allot::engine
