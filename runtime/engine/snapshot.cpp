#include "runtime/engine/snapshot.h"

#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/saved_group.h"

namespace allot::engine {
namespace {

using Json = nlohmann::json;
using lang::Cell;

constexpr std::string_view schema = "allot-state/3";

void put(JsonText& text, const StateStore::Keyed& keyed) {
  text.begin_object();
  for (const auto& [key, cells] : keyed) {
    text.key(key);
    put_cells(text, cells);
  }
  text.end_object();
}

StateStore::Keyed read_keyed(const Json& json) {
  StateStore::Keyed keyed;
  for (const auto& [key, cells] : json.items()) keyed.emplace(key, read_cells(cells));
  return keyed;
}

// In one array, the members in their own order: there may be a million prompts.
void put(JsonText& text, const PromptHistory& h) {
  text.begin_array();
  for (const std::int64_t count : {h.groups, h.flat, h.started, h.scored, h.hits, h.misses, h.last_scored, h.last_hits}) {
    text.value(count);
  }
  text.value(h.reward_mean).value(h.reward_squares).value(h.last_iteration).value(h.away_until).value(h.passed);
  text.end_array();
}

PromptHistory read_history(const Json& json) {
  PromptHistory h;
  std::size_t i = 0;
  for (std::int64_t* count : {&h.groups, &h.flat, &h.started, &h.scored, &h.hits, &h.misses, &h.last_scored, &h.last_hits}) {
    *count = json.at(i++).get<std::int64_t>();
  }
  h.reward_mean = json.at(i++).get<double>();
  h.reward_squares = json.at(i++).get<double>();
  h.last_iteration = json.at(i++).get<int>();
  h.away_until = json.at(i++).get<int>();
  h.passed = json.at(i++).get<bool>();
  return h;
}

void put(JsonText& text, const Account& account) {
  text.begin_object()
      .member("unit", static_cast<int>(account.unit))
      .member("per_run", account.per_run)
      .member("amount", account.amount)
      .member("total", account.total)
      .member("spent", account.spent)
      .end_object();
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

void put(JsonText& text, const RunTallies& run) {
  text.begin_object()
      .member("scored", run.scored)
      .member("hits", run.hits)
      .member("most_reward", run.most_reward)
      .member("warned_without_hits", run.warned_without_hits)
      .member("asked", run.asked)
      .member("first_iteration_over", run.first_iteration_over)
      .member("skipped_updates", run.skipped_updates)
      .end_object();
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

void put(JsonText& text, const SavedVersions& versions) {
  text.begin_object().member("number", versions.number).member("next", versions.next_number);
  if (versions.since_barrier) text.member("since_barrier", true);
  text.member("parameters", versions.parameters);
  text.key("canary").begin_array();
  if (versions.canary) {
    const SavedVersions::Canary& canary = *versions.canary;
    text.value(canary.number).value(canary.hash).value(canary.parameters).value(canary.share);
  }
  text.end_array().member("requests", versions.carried_out).key("before").begin_array();
  for (const SavedVersions::Before& before : versions.before) {
    text.begin_array().value(before.number).value(before.hash).value(before.parameters).end_array();
  }
  text.end_array().end_object();
}

using Parameters = std::map<std::string, std::string>;

SavedVersions read_versions(const Json& json) {
  SavedVersions versions;
  versions.number = json.at("number").get<int>();
  versions.next_number = json.at("next").get<int>();
  versions.since_barrier = json.value("since_barrier", false);
  versions.parameters = json.at("parameters").get<Parameters>();
  if (const Json& canary = json.at("canary"); !canary.empty()) {
    versions.canary = {canary.at(0).get<int>(), canary.at(1).get<std::string>(), canary.at(2).get<Parameters>(),
                       canary.at(3).get<double>()};
  }
  versions.carried_out = json.value("requests", std::vector<std::string>());
  for (const Json& before : json.at("before")) {
    versions.before.push_back({before.at(0).get<int>(), before.at(1).get<std::string>(), before.at(2).get<Parameters>()});
  }
  return versions;
}

Conservation read_conservation(const Json& json) {
  const auto part = [&](std::size_t i) { return json.at(i).get<std::int64_t>(); };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

void put(JsonText& text, const std::vector<const LiveGroup*>& groups) {
  text.begin_array();
  for (const LiveGroup* group : groups) put_group(text, *group);
  text.end_array();
}

ReadSnapshot read_fields(const Json& json, const StatisticsPlan& plan) {
  ReadSnapshot snapshot;
  snapshot.policy_hash = json.at("policy").get<std::string>();
  snapshot.iteration = json.at("iteration").get<int>();
  snapshot.next_group = json.at("next_group").get<int>();
  snapshot.prompts = read_keyed(json.at("prompts"));
  snapshot.categories = read_keyed(json.at("categories"));
  snapshot.run_state = read_cells(json.at("run_state"));
  for (const auto& [key, history] : json.at("histories").items()) snapshot.histories.emplace(key, read_history(history));
  snapshot.epoch = json.at("epoch").at(0).get<int>();
  snapshot.passed = json.at("epoch").at(1).get<std::int64_t>();
  for (const Json& account : json.at("accounts")) snapshot.accounts.push_back(read_account(account));
  snapshot.conservation = read_conservation(json.at("conservation"));
  snapshot.ledger_begun = json.at("ledger_begun").get<bool>();
  snapshot.holdout_observed = json.at("holdout").at(0).get<std::int64_t>();
  snapshot.holdout_flat = json.at("holdout").at(1).get<std::int64_t>();
  snapshot.paused = json.at("paused").get<bool>();
  snapshot.run = read_run(json.at("run"));
  snapshot.versions = read_versions(json.at("versions"));
  for (const auto& [name, list] : {std::pair("waiting", &snapshot.waiting), std::pair("stored", &snapshot.stored)}) {
    for (const Json& group : json.at(name)) {
      snapshot.groups.push_back(std::make_unique<LiveGroup>(read_group(group, plan)));
      list->push_back(snapshot.groups.back().get());
    }
  }
  return snapshot;
}

}  // namespace

std::string write(const Snapshot& snapshot) {
  JsonText text;
  text.begin_object().member("schema", schema).member("policy", snapshot.policy_hash);
  text.member("iteration", snapshot.iteration).member("next_group", snapshot.next_group);
  text.key("prompts");
  put(text, snapshot.prompts);
  text.key("categories");
  put(text, snapshot.categories);
  text.key("run_state");
  put_cells(text, snapshot.run_state);
  text.key("histories").begin_object();
  for (const auto& [key, history] : snapshot.histories) {
    text.key(key);
    put(text, history);
  }
  text.end_object();
  text.key("epoch").begin_array().value(snapshot.epoch).value(snapshot.passed).end_array();
  text.key("accounts").begin_array();
  for (const Account& account : snapshot.accounts) put(text, account);
  text.end_array();
  const Conservation& c = snapshot.conservation;
  text.member("conservation",
              std::vector<std::int64_t>{c.started, c.accepted, c.dropped, c.cancelled, c.deferred, c.in_flight});
  text.member("ledger_begun", snapshot.ledger_begun);
  text.member("holdout", std::vector<std::int64_t>{snapshot.holdout_observed, snapshot.holdout_flat});
  text.member("paused", snapshot.paused);
  text.key("run");
  put(text, snapshot.run);
  text.key("versions");
  put(text, snapshot.versions);
  text.key("waiting");
  put(text, snapshot.waiting);
  text.key("stored");
  put(text, snapshot.stored);
  text.end_object();
  return seal(text.take());
}

Result<ReadSnapshot> read_snapshot(const std::string& text, const StatisticsPlan& plan) {
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
    return read_fields(json, plan);
  } catch (const Json::exception&) {  // a field is missing or of another type
    return damaged;
  }
}

}  // namespace allot::engine
