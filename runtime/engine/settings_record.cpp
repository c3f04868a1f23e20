#include "runtime/engine/settings_record.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal.h"

namespace allot::engine {

using Json = nlohmann::ordered_json;

Json settings_json(const Settings& settings) {
  Json json;
  json["seed"] = settings.seed;
  json["slots"] = settings.slots;
  json["group_size"] = settings.group_size;
  json["turn_limit"] = settings.turn_limit;
  json["tokens_per_turn"] = settings.tokens_per_turn;
  json["shadow"] = settings.shadow;
  json["holdout"] = settings.holdout;
  json["pause_below"] = settings.pause_below ? Json(*settings.pause_below) : Json(nullptr);
  json["stop_on_fault"] = settings.stop_on_fault;
  json["has_raw_reward"] = settings.has_raw_reward;
  const Abilities& host = settings.host;
  json["host"] = {host.defers, host.shapes, host.replays, host.branches, host.scores, host.losses};
  json["inputs"] = settings.inputs;
  return json;
}

Settings settings_from(const Json& json) {
  Settings settings;
  settings.seed = json.at("seed").get<std::uint64_t>();
  settings.slots = json.at("slots").get<int>();
  settings.group_size = json.at("group_size").get<int>();
  settings.turn_limit = json.at("turn_limit").get<int>();
  settings.tokens_per_turn = json.at("tokens_per_turn").get<int>();
  settings.shadow = json.at("shadow").get<bool>();
  settings.holdout = json.at("holdout").get<double>();
  if (!json.at("pause_below").is_null()) settings.pause_below = json.at("pause_below").get<double>();
  settings.stop_on_fault = json.at("stop_on_fault").get<bool>();
  settings.has_raw_reward = json.at("has_raw_reward").get<bool>();
  const Json& host = json.at("host");
  const auto can = [&](std::size_t i) { return host.at(i).get<bool>(); };
  settings.host = {.defers = can(0), .shapes = can(1), .replays = can(2), .branches = can(3), .losses = can(5), .scores = can(4)};
  settings.inputs = json.at("inputs").get<InputValues>();
  return settings;
}

// Every process begins a segment of its own with the record `run`; a long run goes on in further ones without.
std::optional<Json> last_start(const std::filesystem::path& run) {
  std::vector<std::filesystem::path> files = segments(run / "journal");
  std::reverse(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    std::string line;
    if (!std::getline(stream, line) || !is_sealed(line)) continue;
    Json record = Json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("k") && record.at("k") == "run") return record;
  }
  return std::nullopt;
}

Result<Settings> recorded_settings(const std::filesystem::path& run) {
  try {
    if (const auto start = last_start(run)) return settings_from(start->at("settings"));
  } catch (const Json::exception&) {
    // of another program
  }
  return Error{fmt::format("The journal in {} does not tell of the run's settings yet.", run.string()), "ask again after an iteration"};
}

}  // namespace allot::engine
