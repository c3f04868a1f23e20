// How a question and its answer stand in the journal: as JSON, written here and nowhere else, so that what is asked
// again can be compared with what was recorded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/judge.h"

namespace allot::engine {

// A cell of that type; null where it is undefined, a word where it is no finite number (put_number()).
void put_cell(JsonText& text, const lang::Cell& cell, const lang::Type& type);
void put_cells(JsonText& text, const std::vector<lang::Cell>& cells, const lang::Type& type);

void put_reads(JsonText& text, const lang::Handler& handler, const Question& question);
void put_columns(JsonText& text, const lang::Handler& handler, const Question& question);
// Of the states in `read`, as the handler found them.
void put_states(JsonText& text, const lang::Program& program, const std::vector<std::int32_t>& read,
                const Question& question);

// A verdict of a group or rollout that leaves everything as it is.
bool changes_nothing(const Verdict& verdict);

struct FaultPlace {
  compiler::FaultKind kind = compiler::FaultKind::None;
  std::string where;
};

// The answer as members of the record: `r`, the verdict with its operands, the values of the rule's holes, and the fault.
// All of it follows from the frame.
void put_answer(JsonText& text, const lang::Handler& handler, const Verdict& verdict, const Answer& answer,
                const std::optional<FaultPlace>& fault);

}  // namespace allot::engine
