#include "runtime/engine/snapshot.h"

#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;
using lang::Cell;

constexpr std::string_view schema = "allot-state/1";

// Bits, so that a restored value is the same value.
Json cell_json(const Cell& cell) { return Json::array({cell.bits, Cell::of(cell.second).bits, cell.defined}); }

Cell read_cell(const Json& json) {
  return {json.at(0).get<std::uint64_t>(), std::bit_cast<double>(json.at(1).get<std::uint64_t>()),
          json.at(2).get<std::uint64_t>()};
}

Json cells_json(const StateCells& cells) {
  Json json = Json::array();
  for (const Cell& cell : cells) json.push_back(cell_json(cell));
  return json;
}

StateCells read_cells(const Json& json) {
  StateCells cells;
  for (const Json& each : json) cells.push_back(read_cell(each));
  return cells;
}

Json account_json(const Account& account) {
  return {{"unit", static_cast<int>(account.unit)},
          {"per_run", account.per_run},
          {"amount", account.amount},
          {"total", account.total},
          {"spent", account.spent}};
}

Account read_account(const Json& json) {
  Account account;
  account.unit = static_cast<lang::BaseUnit>(json.at("unit").get<int>());
  account.per_run = json.at("per_run").get<bool>();
  account.amount = json.at("amount").get<std::int64_t>();
  account.total = json.at("total").get<double>();
  account.spent = json.at("spent").get<double>();
  return account;
}

Json run_json(const RunTallies& run) {
  return {{"scored", run.scored},
          {"hits", run.hits},
          {"most_reward", run.most_reward ? Json(*run.most_reward) : Json(nullptr)},
          {"warned_without_hits", run.warned_without_hits},
          {"asked", run.asked},
          {"first_iteration_over", run.first_iteration_over},
          {"skipped_updates", run.skipped_updates}};
}

RunTallies read_run(const Json& json) {
  RunTallies run;
  run.scored = json.at("scored").get<std::int64_t>();
  run.hits = json.at("hits").get<std::int64_t>();
  if (!json.at("most_reward").is_null()) run.most_reward = json.at("most_reward").get<double>();
  run.warned_without_hits = json.at("warned_without_hits").get<bool>();
  run.asked = json.at("asked").get<bool>();
  run.first_iteration_over = json.at("first_iteration_over").get<bool>();
  run.skipped_updates = json.at("skipped_updates").get<std::int64_t>();
  return run;
}

Json conservation_json(const Conservation& c) {
  return Json::array({c.started, c.accepted, c.dropped, c.cancelled, c.deferred, c.in_flight});
}

Conservation read_conservation(const Json& json) {
  const auto part = [&](std::size_t i) { return json.at(i).get<std::int64_t>(); };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

Snapshot read_fields(const Json& json) {
  Snapshot snapshot;
  snapshot.policy_hash = json.at("policy").get<std::string>();
  snapshot.iteration = json.at("iteration").get<int>();
  snapshot.next_group = json.at("next_group").get<int>();
  for (const auto& [key, cells] : json.at("prompts").items()) snapshot.prompts.emplace(key, read_cells(cells));
  snapshot.run_state = read_cells(json.at("run_state"));
  for (const Json& account : json.at("accounts")) snapshot.accounts.push_back(read_account(account));
  snapshot.conservation = read_conservation(json.at("conservation"));
  snapshot.ledger_begun = json.at("ledger_begun").get<bool>();
  snapshot.holdout_observed = json.at("holdout").at(0).get<std::int64_t>();
  snapshot.holdout_flat = json.at("holdout").at(1).get<std::int64_t>();
  snapshot.paused = json.at("paused").get<bool>();
  snapshot.run = read_run(json.at("run"));
  return snapshot;
}

}  // namespace

std::string write(const Snapshot& snapshot) {
  Json json;
  json["schema"] = schema;
  json["policy"] = snapshot.policy_hash;
  json["iteration"] = snapshot.iteration;
  json["next_group"] = snapshot.next_group;
  Json prompts = Json::object();
  for (const auto& [key, cells] : snapshot.prompts) prompts[key] = cells_json(cells);
  json["prompts"] = std::move(prompts);
  json["run_state"] = cells_json(snapshot.run_state);
  json["accounts"] = Json::array();
  for (const Account& account : snapshot.accounts) json["accounts"].push_back(account_json(account));
  json["conservation"] = conservation_json(snapshot.conservation);
  json["ledger_begun"] = snapshot.ledger_begun;
  json["holdout"] = Json::array({snapshot.holdout_observed, snapshot.holdout_flat});
  json["paused"] = snapshot.paused;
  json["run"] = run_json(snapshot.run);
  return seal(dump(json));
}

Result<Snapshot> read_snapshot(const std::string& text) {
  const Error damaged{"The saved state of the engine is damaged.", "resume from an earlier checkpoint"};
  const auto line = text.ends_with('\n') ? std::string_view(text).substr(0, text.size() - 1) : std::string_view(text);
  if (!is_sealed(line)) return damaged;
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return damaged;
  try {
    if (json.at("schema").get<std::string>() != schema) {
      return Error{"The saved state of the engine is of another version: " + json.at("schema").get<std::string>() + ".",
                   "resume with the program that wrote it"};
    }
    return read_fields(json);
  } catch (const Json::exception&) {  // a field is missing or of another type
    return damaged;
  }
}

}  // namespace allot::engine
