#include "runtime/engine/answer_text.h"

#include "runtime/engine/event_log.h"

namespace allot::engine {

using lang::Cell;

void put_cell(JsonText& text, const Cell& cell, const lang::Type& type) {
  if (!cell.defined) {
    text.null();
    return;
  }
  switch (type.base) {
    case lang::Base::Bool: text.value(cell.truth()); break;
    case lang::Base::Real: put_number(text, cell.real()); break;
    case lang::Base::Beta: text.begin_array().value(cell.real()).value(cell.second).end_array(); break;
    default: text.value(cell.integer());
  }
}

void put_cells(JsonText& text, const std::vector<Cell>& cells, const lang::Type& type) {
  text.begin_array();
  for (const Cell& cell : cells) put_cell(text, cell, type);
  text.end_array();
}

void put_reads(JsonText& text, const lang::Handler& handler, const Question& question) {
  text.begin_array();
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    put_cell(text, question.reads()[i], handler.reads[i].type);
  }
  text.end_array();
}

void put_columns(JsonText& text, const lang::Handler& handler, const Question& question) {
  text.begin_array();
  for (std::size_t i = 0; i < handler.columns.size(); ++i) {
    put_cells(text, question.columns()[i], handler.columns[i].type);
  }
  text.end_array();
}

void put_states(JsonText& text, const lang::Program& program, const std::vector<std::int32_t>& read,
                const Question& question) {
  text.begin_array();
  for (const std::int32_t state : read) {
    const auto index = static_cast<std::size_t>(state);
    put_cells(text, question.states_before()[index], program.states[index].type);
  }
  text.end_array();
}

bool changes_nothing(const Verdict& verdict) {
  const bool goes_on = verdict.rollouts == lang::RolloutsField::Continue ||
                       (verdict.rollouts == lang::RolloutsField::Default && verdict.amounts.empty());
  return goes_on && verdict.group == lang::GroupField::Default && verdict.slot == lang::SlotField::Default &&
         verdict.prompt == lang::PromptField::Default && !verdict.reward && !verdict.advantages && !verdict.weights &&
         !verdict.baselines && verdict.keys.empty();
}

namespace {

// Values of the rule's holes, in its own order.
void put_holes(JsonText& text, const lang::Handler& handler, const lang::Rule& rule, const std::vector<Cell>& holes) {
  text.begin_array();
  std::size_t hole = 0;
  for (const lang::MessagePart& part : rule.because) {
    if (part.hole < 0) continue;
    put_cell(text, holes[hole++], handler.nodes[static_cast<std::size_t>(part.hole)].type);
  }
  text.end_array();
}

void put_verdict(JsonText& text, const Verdict& verdict) {
  text.member("verdict", words(verdict));
  if (verdict.amounts.size() > 1) text.member("amounts", verdict.amounts);
  if (!verdict.up_tos.empty()) text.member("up_to", verdict.up_tos);
  if (!verdict.stopped.empty()) text.member("where", verdict.stopped);
  if (verdict.subset) text.member("subset", *verdict.subset);
  if (verdict.age_limit) text.member("age_limit", *verdict.age_limit);
  if (!verdict.untils.empty()) text.member("until", verdict.untils);
  if (!verdict.evicted.empty()) text.member("evicted", verdict.evicted);
  if (!verdict.readmitted.empty()) text.member("readmitted", verdict.readmitted);
  if (!verdict.taken.empty()) text.member("taken", verdict.taken);
  if (!verdict.scores.empty()) text.member("scores", verdict.scores);
  if (verdict.reward) text.member("reward", *verdict.reward);
  if (verdict.advantages) text.member("advantages", *verdict.advantages);
  if (verdict.weights) text.member("weights", *verdict.weights);
  if (verdict.baselines) text.member("baselines", *verdict.baselines);
}

}  // namespace

void put_answer(JsonText& text, const lang::Handler& handler, const Verdict& verdict, const Answer& answer,
                const std::optional<FaultPlace>& fault) {
  text.member("r", verdict.rule);
  if (verdict.rule >= 0) {
    put_verdict(text, verdict);
    text.key("holes");
    put_holes(text, handler, handler.rules[static_cast<std::size_t>(verdict.rule)], answer.holes());
  }
  if (!verdict.keys.empty()) text.member("keys", verdict.keys);
  if (!fault) return;
  text.key("fault").begin_object().member("kind", words(fault->kind)).member("where", fault->where).end_object();
}

}  // namespace allot::engine
