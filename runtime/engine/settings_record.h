// The settings of a run, as its journal has them: all that a decision depends on.
#pragma once

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/engine.h"

namespace allot::engine {

nlohmann::ordered_json settings_json(const Settings& settings);
// Throws what nlohmann throws where the JSON is of another form.
Settings settings_from(const nlohmann::ordered_json& json);

// Those under which the run of this folder was last started. An error says that its journal does not tell.
Result<Settings> recorded_settings(const std::filesystem::path& run);

}  // namespace allot::engine
