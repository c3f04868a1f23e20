// The settings of a run, as its journal has them: all that a decision depends on.
#pragma once

#include <filesystem>
#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/engine.h"

namespace allot::engine {

nlohmann::ordered_json settings_json(const Settings& settings);
// Throws what nlohmann throws where the JSON is of another form.
Settings settings_from(const nlohmann::ordered_json& json);

// The journal's record `run` of the process that last worked on the run of this folder: `settings`, and its `policy`. None
// where the journal does not tell.
std::optional<nlohmann::ordered_json> last_start(const std::filesystem::path& run);
// The settings of that. An error says that the journal does not tell.
Result<Settings> recorded_settings(const std::filesystem::path& run);

}  // namespace allot::engine
