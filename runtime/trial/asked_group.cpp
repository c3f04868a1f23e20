#include "runtime/trial/asked_group.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/facts.h"
#include "runtime/engine/judge.h"
#include "runtime/engine/live_group.h"
#include "runtime/trial/consistent.h"
#include "runtime/trial/handler_of.h"

namespace allot::trial {
namespace {

using engine::Question;
using lang::Cell;
using lang::Point;

void write_state(const TestedPolicy& tested, engine::LiveGroup& group, std::size_t state,
                 const std::vector<Cell>& value) {
  switch (tested.program.states[state].scope) {
    case lang::StateScope::Group: group.state[state] = value; break;
    case lang::StateScope::Prompt: tested.store.write_prompt(group.log.prompt, state, value); break;
    case lang::StateScope::Run: tested.store.write_run(state, value); break;
    case lang::StateScope::Category: tested.store.write_category(group.log.category, state, value); break;
  }
}

std::optional<Error> score_hits(const TestedPolicy& tested, engine::LiveGroup& group, const engine::RunFacts& run) {
  if (!tested.program.hit) return std::nullopt;
  for (std::size_t sample = 0; sample < group.log.rollouts.size(); ++sample) {
    engine::RolloutLog& rollout = group.log.rollouts[sample];
    if (!rollout.scored()) continue;
    Question question;
    question.fill_hit(*tested.program.hit, group.facts(0), static_cast<int>(sample), run);
    const Cell hit = tested.evaluator.hit(question.frame());
    if (!hit.defined) {
      const std::string place = engine::place_of(tested.program, tested.program.hit->span);
      return Error{fmt::format("{}: the `hit` condition faults for rollout {}", place, sample), ""};
    }
    rollout.hit = hit.truth();
  }
  return std::nullopt;
}

// Single facts: those that the record gives outright win over what its log says.
void replace_facts(Question& question, const lang::Handler& handler, const Record& record, bool of_condition) {
  // A test happens in the first epoch, and its one group is of the one category there is.
  question.replace(handler, lang::Fact::Epoch, Cell::of(std::int64_t{0}));
  question.replace(handler, lang::Fact::GroupCategory, Cell::of(std::int64_t{0}));
  // … and at least one wave is over where a group's rollouts have ended.
  const bool waved = handler.point == Point::Wave || handler.point == Point::Finish || handler.point == Point::Resume;
  if (waved && !of_condition) {
    question.replace(handler, lang::Fact::Wave, Cell::of(std::int64_t{std::max(1, wave_of(record))}));
  }
  for (const auto& [fact, value] : record.facts) {
    if (fact == lang::Fact::GroupCategory) continue;
    question.replace(handler, fact, value.cell(lang::row(fact).type.base));
  }
}

// Lists with an entry a turn of the group; what is left out is undefined, or 0.
void replace_turns(Question& question, const lang::Handler& handler, const Record& record) {
  std::size_t turns = 0;
  const auto given = [&](const lang::ReadKey& key) {
    return record.fields.find(std::string(lang::row(key.fact).name));
  };
  for (const char* const name : {"turn_samples", "turn_rewards", "turn_states"}) {
    const auto list = record.fields.find(name);
    if (list != record.fields.end()) turns = list->second.items.size();
  }
  if (turns == 0) return;
  for (const lang::ReadKey& key : handler.columns) {
    if (key.scope != lang::Scope::AllTurns) continue;
    std::vector<Cell> cells(turns, key.type.optional ? Cell::undefined() : Cell::of(std::int64_t{0}));
    const auto list = given(key);
    for (std::size_t i = 0; list != record.fields.end() && i < turns; ++i) {
      cells[i] = list->second.items[i].cell(key.type.base);
    }
    question.replace_turns(handler, key.fact, std::move(cells));
  }
}

// Lists and matrices with an entry a rollout.
void replace_columns(Question& question, const lang::Handler& handler, const Record& record) {
  if (const auto rows = record.fields.find("embeddings"); rows != record.fields.end()) {
    const auto width = static_cast<std::int64_t>(rows->second.items.front().items.size());
    question.replace_matrix(handler, lang::Fact::Embeddings, rows->second.cells(lang::Base::Real), width);
  }
  for (const char* const name : {"advantages", "classes"}) {
    const auto list = record.fields.find(name);
    if (list == record.fields.end()) continue;
    const lang::FactRow& row = *lang::find_fact(lang::Subject::Group, name);
    std::vector<Cell> cells;
    for (const Value& item : list->second.items) cells.push_back(item.cell(row.type.base));
    question.replace_column(handler, lang::element_of(row.fact), cells);
  }
}

}  // namespace

std::optional<Error> fill(Question& question, const TestedPolicy& tested, const lang::Program& program,
                          const lang::Handler& handler, const Record& record) {
  if (handler.subject != lang::Subject::Group || !record.is_group()) {
    return Error{"The record is of another kind than `on " + handler.text + "` asks about.", ""};
  }
  engine::LiveGroup& group = *record.group;
  for (const auto& [state, value] : tested.given_states) {
    if (static_cast<std::int64_t>(value.size()) != tested.program.states[state].type.cells()) {
      return Error{"`" + tested.program.states[state].name + "` is given for several prompts; a group has one.", ""};
    }
    write_state(tested, group, state, value);
  }
  const engine::RunFacts run{&program, &tested.parameters, &tested.ledger, 0, 8, 0};
  if (auto error = score_hits(tested, group, run)) return error;
  const engine::RunFacts of_policy{&tested.program, &tested.parameters, &tested.ledger, 0, 8, 0};
  if (auto met = consistent(record, of_policy); !met) return met.error();
  question.fill(handler, group.facts(record.turn), run, tested.store, group.state);
  replace_facts(question, handler, record, &program != &tested.program);
  replace_turns(question, handler, record);
  replace_columns(question, handler, record);
  return std::nullopt;
}

}  // namespace allot::trial
