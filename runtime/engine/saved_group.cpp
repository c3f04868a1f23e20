#include "runtime/engine/saved_group.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "runtime/engine/event_log.h"

namespace allot::engine {
namespace {

using Json = nlohmann::json;
using lang::Cell;

template <typename T>
std::optional<T> read_optional(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

// What an interner gave out, without the two reserved symbols: interned again in this order, all get their numbers back.
std::vector<std::string_view> texts(const statistics::Interner& interner) {
  std::vector<std::string_view> all;
  for (Symbol symbol = statistics::invalid_symbol + 1; symbol < interner.size(); ++symbol) {
    all.push_back(interner.text(symbol));
  }
  return all;
}

void put_rollout(JsonText& text, const RolloutLog& rollout) {
  text.begin_object()
      .member("status", static_cast<int>(rollout.status))
      .member("iteration", rollout.iteration)
      .member("actions", rollout.actions)
      .member("observations", rollout.observations)
      .member("tokens", rollout.tokens)
      .member("calls", rollout.calls)
      .member("invalid", rollout.invalid);
  put_number(text.key("logprob"), rollout.logprob);
  put_number(text.key("entropy"), rollout.entropy);
  put_number(text.key("reward"), rollout.reward);
  put_number(text.key("raw_reward"), rollout.raw_reward);
  text.member("nonfinite", rollout.nonfinite)
      .member("hit", rollout.hit)
      .member("cause", rollout.cause)
      .member("answer", rollout.answer);
  text.key("turns").begin_array();
  for (const TurnNumbers& turn : rollout.each_turn) {
    text.begin_array().value(turn.tokens);
    put_number(text, turn.logprob);
    put_number(text, turn.entropy);
    text.end_array();
  }
  text.end_array().end_object();
}

RolloutLog read_rollout(const Json& json) {
  RolloutLog rollout;
  rollout.status = static_cast<Status>(json.at("status").get<int>());
  rollout.iteration = json.at("iteration").get<int>();
  rollout.actions = json.at("actions").get<std::vector<Symbol>>();
  rollout.observations = json.at("observations").get<std::vector<Symbol>>();
  rollout.tokens = json.at("tokens").get<std::int64_t>();
  rollout.calls = json.at("calls").get<std::int64_t>();
  rollout.invalid = json.at("invalid").get<std::int64_t>();
  rollout.logprob = read_real(json.at("logprob"));
  rollout.entropy = read_real(json.at("entropy"));
  rollout.reward = read_number(json.at("reward"));
  rollout.raw_reward = read_number(json.at("raw_reward"));
  rollout.nonfinite = json.at("nonfinite").get<bool>();
  rollout.hit = read_optional<bool>(json.at("hit"));
  rollout.cause = json.at("cause").get<std::string>();
  rollout.answer = json.at("answer").get<std::string>();
  for (const Json& turn : json.at("turns")) {
    rollout.each_turn.push_back({turn.at(0).get<std::int64_t>(), read_real(turn.at(1)), read_real(turn.at(2))});
  }
  return rollout;
}

// What earlier points said and a later one may not say again.
void put_verdict(JsonText& text, const LiveGroup& group) {
  text.key("verdict")
      .begin_object()
      .member("ended", group.ended_by_verdict)
      .member("stopped", group.stopped)
      .member("subset", group.subset)
      .member("normalize", static_cast<int>(group.normalize))
      .end_object();
}

// Older programs did not keep it.
void read_verdict(const Json& json, LiveGroup& group) {
  const auto verdict = json.find("verdict");
  if (verdict == json.end()) return;
  group.ended_by_verdict = verdict->at("ended").get<bool>();
  group.stopped = verdict->at("stopped").get<bool>();
  group.subset = read_optional<std::vector<int>>(verdict->at("subset"));
  group.normalize = static_cast<lang::Normalize>(verdict->at("normalize").get<int>());
}

}  // namespace

double read_real(const Json& json) { return read_number(json).value_or(std::numeric_limits<double>::quiet_NaN()); }

void put_cells(JsonText& text, const StateCells& states) {
  text.begin_array();
  for (const std::vector<Cell>& cells : states) {
    text.begin_array();
    for (const Cell& cell : cells) {
      text.begin_array().value(cell.bits).value(Cell::of(cell.second).bits).value(cell.defined).end_array();
    }
    text.end_array();
  }
  text.end_array();
}

StateCells read_cells(const Json& json) {
  StateCells states;
  for (const Json& list : json) {
    std::vector<Cell>& cells = states.emplace_back();
    for (const Json& each : list) {
      cells.push_back({each.at(0).get<std::uint64_t>(), std::bit_cast<double>(each.at(1).get<std::uint64_t>()),
                       each.at(2).get<std::uint64_t>()});
    }
  }
  return states;
}

void put_group(JsonText& text, const LiveGroup& group, bool of_canary) {
  const GroupLog& log = group.log;
  text.begin_object()
      .member("group", log.group)
      .member("iteration", log.iteration)
      .member("slot", log.slot)
      .member("round", log.round)
      .member("wave", log.wave)
      .member("prompt", log.prompt)
      .member("category", log.category)
      .member("planned", log.planned)
      .member("cap", log.cap)
      .member("actions", texts(log.actions))
      .member("observations", texts(log.observations));
  text.key("rollouts").begin_array();
  for (const RolloutLog& rollout : log.rollouts) put_rollout(text, rollout);
  text.end_array();
  text.key("state");
  put_cells(text, group.state);
  text.member("turn_passed", group.turn_passed)
      .member("fired", group.turn_handlers_fired)
      .member("limit", group.defer_limit)
      .member("trained", group.trained)
      .member("flat", group.flat)
      .member("held_out", group.held_out)
      .member("cut_by_budget", group.cut_by_budget)
      .key("gate")
      .begin_array()
      .value(group.gate.asked)
      .value(group.gate.stop)
      .value(group.gate.late)
      .value(group.gate.carried_out)
      .end_array();
  put_verdict(text, group);
  if (of_canary) text.member("canary", true);
  text.end_object();
}

LiveGroup read_group(const Json& json, const StatisticsPlan& plan) {
  LiveGroup group;
  GroupLog& log = group.log;
  log.group = json.at("group").get<int>();
  log.iteration = json.at("iteration").get<int>();
  log.slot = json.at("slot").get<int>();
  log.round = json.at("round").get<int>();
  log.wave = json.at("wave").get<int>();
  log.prompt = json.at("prompt").get<std::string>();
  log.category = json.at("category").get<std::string>();
  log.planned = json.at("planned").get<int>();
  log.cap = json.at("cap").get<int>();
  for (const Json& action : json.at("actions")) log.actions.intern(action.get<std::string>());
  for (const Json& observation : json.at("observations")) log.observations.intern(observation.get<std::string>());
  for (const Json& rollout : json.at("rollouts")) log.rollouts.push_back(read_rollout(rollout));
  group.kept = KeptStatistics::rebuild(plan, log);
  group.state = read_cells(json.at("state"));
  group.turn_passed = json.at("turn_passed").get<int>();
  group.turn_handlers_fired = json.at("fired").get<std::vector<int>>();
  group.defer_limit = read_optional<std::int64_t>(json.at("limit"));
  group.trained = json.at("trained").get<std::vector<int>>();
  group.flat = json.at("flat").get<bool>();
  group.held_out = json.at("held_out").get<bool>();
  group.cut_by_budget = json.at("cut_by_budget").get<bool>();
  const Json& gate = json.at("gate");
  group.gate = {gate.at(0).get<bool>(), gate.at(1).get<bool>(), gate.at(2).get<bool>(), gate.at(3).get<bool>()};
  read_verdict(json, group);
  return group;
}

}  // namespace allot::engine
