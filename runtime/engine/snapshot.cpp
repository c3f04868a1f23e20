#include "runtime/engine/snapshot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/event_log.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/saved_group.h"

namespace allot::engine {
namespace {

using Json = nlohmann::json;
using lang::Cell;

StateStore::Keyed read_keyed(const Json& json) {
  StateStore::Keyed keyed;
  for (const auto& [key, cells] : json.items()) keyed.emplace(key, read_cells(cells));
  return keyed;
}

constexpr std::array counts_of_history{&PromptHistory::groups,  &PromptHistory::flat,        &PromptHistory::started,
                                       &PromptHistory::scored,  &PromptHistory::hits,        &PromptHistory::misses,
                                       &PromptHistory::last_scored, &PromptHistory::last_hits};

// The members in their own order, but for the last: a text says whether the prompt came in this epoch, files say in which.
void put_history(JsonText& text, const PromptHistory& h) {
  for (const auto count : counts_of_history) text.value(h.*count);
  put_number(text, h.reward_mean);
  put_number(text, h.reward_squares);
  text.value(h.last_iteration).value(h.away_until);
}

// Without its last member, which is at the place that is returned with it.
std::pair<PromptHistory, std::size_t> read_history(const Json& json, std::size_t i) {
  PromptHistory h;
  for (const auto count : counts_of_history) h.*count = json.at(i++).get<std::int64_t>();
  h.reward_mean = read_real(json.at(i++));
  h.reward_squares = read_real(json.at(i++));
  h.last_iteration = json.at(i++).get<int>();
  h.away_until = json.at(i++).get<int>();
  return {h, i};
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
  text.begin_object().member("scored", run.scored).member("hits", run.hits);
  put_number(text.key("most_reward"), run.most_reward);
  text.member("warned_without_hits", run.warned_without_hits)
      .member("asked", run.asked)
      .member("first_iteration_over", run.first_iteration_over)
      .member("skipped_updates", run.skipped_updates)
      .end_object();
}

RunTallies read_run(const Json& json) {
  RunTallies run;
  run.scored = json.at("scored").get<std::int64_t>();
  run.hits = json.at("hits").get<std::int64_t>();
  run.most_reward = read_number(json.at("most_reward"));
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
    text.begin_array().value(before.number).value(before.hash).value(before.parameters);
    if (!before.at.empty()) text.value(before.at);
    text.end_array();
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
    const std::string at = before.size() > 3 ? before.at(3).get<std::string>() : "";  // of older programs
    versions.before.push_back({before.at(0).get<int>(), before.at(1).get<std::string>(), before.at(2).get<Parameters>(), at});
  }
  return versions;
}

std::optional<JournalMark> read_mark(const Json& json) {
  const auto mark = json.find("journal");
  if (mark == json.end()) return std::nullopt;
  return JournalMark{mark->at("segment").get<int>(), mark->at("sum").get<std::string>()};
}

Conservation read_conservation(const Json& json) {
  const auto part = [&](std::size_t i) { return json.at(i).get<std::int64_t>(); };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

// Rows by key: in which order they came is not told.
template <typename Moment, typename Put>
void put_table(JsonText& text, const Moment& table, Put put) {
  std::vector<std::uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return table.key(a) < table.key(b); });
  text.begin_object();
  for (const std::uint32_t row : order) {
    text.key(table.key(row));
    put(row);
  }
  text.end_object();
}

const Error damaged{"The saved state of the engine is damaged.", "resume from an earlier checkpoint"};

}  // namespace

HeadText write(const SnapshotHead& head) {
  JsonText text;
  text.begin_object().member("iteration", head.iteration).member("next_group", head.next_group);
  if (head.journal) {
    text.key("journal").begin_object().member("segment", head.journal->segment).member("sum", head.journal->sum).end_object();
  }
  text.key("run_state");
  put_cells(text, head.run_state);
  text.key("epoch").begin_array().value(head.epoch).value(head.passed).end_array();
  text.key("accounts").begin_array();
  for (const Account& account : head.accounts) put(text, account);
  text.end_array();
  const Conservation& c = head.conservation;
  text.member("conservation",
              std::vector<std::int64_t>{c.started, c.accepted, c.dropped, c.cancelled, c.deferred, c.in_flight});
  text.member("ledger_begun", head.ledger_begun);
  text.member("overruns", head.overruns);
  text.member("holdout", std::vector<std::int64_t>{head.holdout_observed, head.holdout_flat});
  text.member("paused", head.paused);
  text.key("run");
  put(text, head.run);
  text.key("versions");
  put(text, head.versions);
  text.key("waiting").begin_array();
  for (const LiveGroup* group : head.waiting) put_group(text, *group, head.of_canary.contains(group->log.group));
  text.end_array().key("stored").begin_array();
  for (const LiveGroup* group : head.stored) put_group(text, *group);
  text.end_array();
  return {head.policy_hash, text.take().substr(1)};
}

std::string write(const Snapshot& snapshot) {
  JsonText text;
  text.begin_object().member("schema", text_schema).member("policy", snapshot.policy_hash()).raw(snapshot.head->members);
  const StateStore::Moment& memory = snapshot.memory;
  const auto put_states = [&](const StateRows::Moment& rows, lang::StateScope scope) {
    put_table(text, rows, [&](std::size_t row) {
      put_cells(text, memory.layout->cells(scope, rows.values(row), rows.now() - rows.stamp(row)));
    });
  };
  text.key("prompts");
  put_states(memory.prompts, lang::StateScope::Prompt);
  text.key("categories");
  put_states(memory.categories, lang::StateScope::Category);
  text.key("histories");
  put_table(text, snapshot.histories, [&](std::size_t row) {
    const PromptHistory& history = snapshot.histories.values(row).front();
    text.begin_array();
    put_history(text, history);
    text.value(history.passed_in == snapshot.epoch).end_array();
  });
  text.end_object();
  return seal(text.take());
}

void put_values(JsonText& text, std::span<const Cell> cells) {
  for (const Cell& cell : cells) text.value(cell.bits).value(Cell::of(cell.second).bits).value(cell.defined);
}

void put_values(JsonText& text, std::span<const PromptHistory> histories) {
  for (const PromptHistory& history : histories) {
    put_history(text, history);
    text.value(history.passed_in);
  }
}

std::vector<Cell> read_row(const Json& values, std::size_t begin, const Cell*) {
  std::vector<Cell> cells;
  for (std::size_t i = begin; i < values.size(); i += 3) {
    cells.push_back({values.at(i).get<std::uint64_t>(), std::bit_cast<double>(values.at(i + 1).get<std::uint64_t>()),
                     values.at(i + 2).get<std::uint64_t>()});
  }
  return cells;
}

std::vector<PromptHistory> read_row(const Json& values, std::size_t begin, const PromptHistory*) {
  auto [history, at] = read_history(values, begin);
  history.passed_in = values.at(at).get<int>();
  return {history};
}

Result<Json> read_sealed(const std::string& text) {
  const auto line = text.ends_with('\n') ? std::string_view(text).substr(0, text.size() - 1) : std::string_view(text);
  if (!is_sealed(line)) return damaged;
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return damaged;
  return json;
}

ReadSnapshot read_head(const Json& json, const StatisticsPlan& plan) {
  ReadSnapshot snapshot;
  snapshot.policy_hash = json.at("policy").get<std::string>();
  snapshot.iteration = json.at("iteration").get<int>();
  snapshot.next_group = json.at("next_group").get<int>();
  snapshot.run_state = read_cells(json.at("run_state"));
  snapshot.epoch = json.at("epoch").at(0).get<int>();
  snapshot.passed = json.at("epoch").at(1).get<std::int64_t>();
  for (const Json& account : json.at("accounts")) snapshot.accounts.push_back(read_account(account));
  snapshot.conservation = read_conservation(json.at("conservation"));
  snapshot.ledger_begun = json.at("ledger_begun").get<bool>();
  snapshot.overruns = json.value("overruns", std::int64_t{0});
  snapshot.holdout_observed = json.at("holdout").at(0).get<std::int64_t>();
  snapshot.holdout_flat = json.at("holdout").at(1).get<std::int64_t>();
  snapshot.paused = json.at("paused").get<bool>();
  snapshot.run = read_run(json.at("run"));
  snapshot.versions = read_versions(json.at("versions"));
  snapshot.journal = read_mark(json);
  for (const auto& [name, list] : {std::pair("waiting", &snapshot.waiting), std::pair("stored", &snapshot.stored)}) {
    for (const Json& group : json.at(name)) {
      snapshot.groups.push_back(std::make_unique<LiveGroup>(read_group(group, plan)));
      list->push_back(snapshot.groups.back().get());
      if (group.value("canary", false)) snapshot.of_canary.insert(list->back()->log.group);
    }
  }
  return snapshot;
}

Result<ReadSnapshot> read_snapshot(const std::string& text, const StatisticsPlan& plan) {
  const auto json = read_sealed(text);
  if (!json) return json.error();
  try {
    const std::string schema = json->at("schema").get<std::string>();
    if (schema == files_schema) {
      return Error{"The saved state of the engine is in several files, and this is one of them.",
                   "restore it from the folder in which they are"};
    }
    if (schema != text_schema) {
      return Error{"The saved state of the engine is of another version: " + schema + ".", "resume with the program that wrote it"};
    }
    ReadSnapshot snapshot = read_head(*json, plan);
    snapshot.prompts = read_keyed(json->at("prompts"));
    snapshot.categories = read_keyed(json->at("categories"));
    for (const auto& [key, values] : json->at("histories").items()) {
      auto [history, at] = read_history(values, 0);
      history.passed_in = values.at(at).get<bool>() ? snapshot.epoch : -1;
      snapshot.histories.add(key, std::array{history});
    }
    return snapshot;
  } catch (const Json::exception&) {  // a field is missing or of another type
    return damaged;
  }
}

bool ReadSnapshot::give_memory(StateStore& store) {
  if (!rows) return store.restore(prompts, categories, std::move(run_state));
  return store.restore(std::move(rows->prompts), std::move(rows->categories), std::move(run_state));
}

Result<ActiveVersion> read_saved_version(const std::string& text) {
  const auto json = read_sealed(text);
  if (!json) return json.error();
  try {
    const SavedVersions versions = read_versions(json->at("versions"));
    return ActiveVersion{versions.number, json->at("policy").get<std::string>(), versions.parameters};
  } catch (const Json::exception&) {
    return damaged;
  }
}

std::optional<JournalMark> read_saved_mark(const std::string& text) {
  const auto json = read_sealed(text);
  if (!json) return std::nullopt;
  try {
    return read_mark(*json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace allot::engine
