#include "runtime/trial/view.h"

#include <string_view>

#include <fmt/format.h>

namespace allot::trial {
namespace {

using lang::Cell;

constexpr std::string_view reported = "reported.";

Value whole(std::int64_t number) { return Value::of(Value::Kind::Int, number); }
Value truth(bool yes) { return Value::of(Value::Kind::Bool, yes ? 1 : 0); }
Value amount(double number) { return Value::of(Value::Kind::Real, 0, number); }

Value value_of(const Cell& cell, lang::Base base) {
  if (!cell.defined) return {};
  switch (base) {
    case lang::Base::Bool: return truth(cell.truth());
    case lang::Base::Int: return whole(cell.integer());
    case lang::Base::Beta: {
      Value value = amount(cell.real());
      value.kind = Value::Kind::Beta;
      value.second = cell.second;
      return value;
    }
    default: return amount(cell.real());
  }
}

Value rows_of(const Value& list, int columns) {
  Value rows;
  rows.kind = Value::Kind::List;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i % static_cast<std::size_t>(columns) == 0) rows.items.emplace_back().kind = Value::Kind::List;
    rows.items.back().items.push_back(list.items[i]);
  }
  return rows;
}

}  // namespace

std::optional<std::size_t> state_named(const lang::Program& program, const std::string& name) {
  for (std::size_t i = 0; i < program.states.size(); ++i) {
    if (program.states[i].name == name) return i;
  }
  return std::nullopt;
}

Result<Value> View::look(const Place& asked) const {
  const std::string full = asked.field.empty() ? asked.name : asked.name + "." + asked.field;
  if (const auto state = state_named(program_, full)) return look_at_state(*state, asked);
  if (auto money = look_at_budget(asked)) return *std::move(money);
  if (full.starts_with(reported)) return look_at_report(full.substr(reported.size()));
  if (asked.field.empty()) return look_at_run(asked.name);
  const auto course = courses_.find(asked.name);
  if (course == courses_.end()) return Error{fmt::format("there is no group {} in this iteration", asked.name), ""};
  const Course& group = course->second;
  if (asked.field == "started") return whole(group.started);
  if (asked.field == "stopped") return whole(group.stopped);
  if (asked.field == "scored") return whole(group.scored);
  if (group.result && asked.field == "slot") return whole(group.result->slot);
  if (group.result && asked.field == "round") return whole(group.result->round);
  if (group.result && asked.field == "flat") return truth(group.result->flat);
  if (group.result && asked.field == "subset") {
    Value list;
    list.kind = Value::Kind::List;
    for (const int sample : group.result->subset) list.items.push_back(whole(sample));
    return list;
  }
  const bool later = asked.field == "slot" || asked.field == "round" || asked.field == "flat" || asked.field == "subset";
  if (later) return Error{fmt::format("group {} is not closed: it has no `{}` yet", asked.name, asked.field), ""};
  return Error{fmt::format("a group of a scenario has no `{}`", asked.field),
               "it has started, stopped, scored, slot, round, flat and subset"};
}

Result<Value> View::look_at_state(std::size_t index, const Place& asked) const {
  const lang::State& state = program_.states[index];
  const auto value_in = [&](const engine::StateCells& cells) {
    Value list;
    list.kind = Value::Kind::List;
    for (const Cell& cell : cells[index]) list.items.push_back(value_of(cell, state.type.base));
    return state.type.matrix() ? rows_of(list, state.type.columns) : state.type.vector() ? list : list.items.front();
  };
  if (state.scope == lang::StateScope::Run) return value_in(engine_.state().run());
  if (state.scope == lang::StateScope::Group) return Error{fmt::format("`{}` is gone with its group", state.name), ""};
  if (!asked.keyed) return Error{fmt::format("`{}` is state per prompt", state.name), "say whose: " + state.name + "[\"a\"]"};
  const engine::StateStore& store = engine_.state();
  const bool prompt = state.scope == lang::StateScope::Prompt;
  return value_in(prompt ? store.prompt(asked.key) : store.category(asked.key));
}

std::optional<Result<Value>> View::look_at_budget(const Place& asked) const {
  if (asked.name != "spent" && asked.name != "left" && asked.name != "reserved" && asked.name != "total") {
    return std::nullopt;
  }
  for (const engine::Account& account : engine_.ledger().accounts()) {
    if (!asked.field.empty() && lang::name(account.unit) != asked.field) continue;
    if (asked.name == "spent") return amount(account.spent);
    if (asked.name == "reserved") return amount(account.reserved);
    return amount(asked.name == "left" ? account.left() : account.total);
  }
  return Result<Value>(Error{"the policy declares no such budget", ""});
}

Result<Value> View::look_at_report(const std::string& name) const {
  const auto metric = report_.metrics.find("report/" + name);
  if (metric == report_.metrics.end()) return Error{fmt::format("the policy does not report `{}`", name), ""};
  return amount(metric->second);
}

// How often a `warn` held in this iteration.
std::int64_t View::warned() const {
  double times = 0;
  for (const std::string& warning : program_.warnings) times += report_.metrics.at("policy/" + warning);
  return static_cast<std::int64_t>(times);
}

Result<Value> View::look_at_run(const std::string& name) const {
  const engine::Conservation& rollouts = engine_.ledger().conservation();
  if (name == "started") return whole(rollouts.started);
  if (name == "accepted") return whole(rollouts.accepted);
  if (name == "dropped") return whole(rollouts.dropped);
  if (name == "cancelled") return whole(rollouts.cancelled);
  if (name == "deferred") return whole(rollouts.deferred);
  if (name == "in_flight") return whole(rollouts.in_flight);
  if (name == "trained") return whole(static_cast<std::int64_t>(report_.trained.size()));
  if (name == "rounds") return whole(report_.rounds);
  if (name == "skip_update") return truth(report_.skip_update);
  if (name == "aborted") return truth(report_.aborted);
  if (name == "warned") return whole(warned());
  return Error{fmt::format("a scenario knows no `{}`", name),
               "it knows its groups, the states, spent, left, reserved, total, started, accepted, dropped, cancelled, "
               "deferred, in_flight, trained, rounds, skip_update, aborted, warned and what is reported.NAME"};
}

}  // namespace allot::trial
