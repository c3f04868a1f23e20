// What both engines share about an Outcome: how it looks before anything has been decided.
#pragma once

#include <algorithm>
#include <cstddef>

#include "compiler/executable.h"

namespace allot::compiler {

inline constexpr Cell Outcome::*outcome_cells[] = {&Outcome::amount, &Outcome::up_to, &Outcome::age_limit,
                                                   &Outcome::until, &Outcome::reward, &Outcome::baseline,
                                                   &Outcome::loss, &Outcome::slope};
inline constexpr Column Outcome::*outcome_columns[] = {
    &Outcome::amounts,    &Outcome::up_tos, &Outcome::mask,       &Outcome::subset,  &Outcome::untils,
    &Outcome::readmitted, &Outcome::scores, &Outcome::advantages, &Outcome::weights, &Outcome::baselines,
    &Outcome::keys};

// Every field that a decision may leave alone gets its empty value, so a caller can use one Outcome again and again.
// Each from a constant: one copied from another would be read back before it has been written.
inline void clear(Outcome& outcome, const lang::Program& program, const lang::Handler& handler) noexcept {
  outcome.fault = FaultKind::None;
  outcome.fault_node = -1;
  outcome.rule = -1;
  for (Cell Outcome::*const cell : outcome_cells) outcome.*cell = Cell::undefined();
  for (Column Outcome::*const column : outcome_columns) outcome.*column = Column{};
  if (outcome.holes != nullptr) std::fill_n(outcome.holes, handler.hole_count, Cell::undefined());
  if (outcome.reports != nullptr) std::fill_n(outcome.reports, program.reports.size(), Cell::undefined());
  if (outcome.report_written != nullptr) std::fill_n(outcome.report_written, program.reports.size(), std::uint8_t{0});
  if (outcome.warned != nullptr) std::fill_n(outcome.warned, program.warnings.size(), std::uint8_t{0});
}

// Where an operand of a verdict goes: a cell for one number, a column for a vector; 0: it is never such a one.
struct OperandPlace {
  lang::NodeId lang::VerdictTemplate::*node;
  std::size_t cell;
  std::size_t column;
};

// In the order of evaluation.
inline constexpr OperandPlace operand_places[] = {
    {&lang::VerdictTemplate::amount, offsetof(Outcome, amount), offsetof(Outcome, amounts)},
    {&lang::VerdictTemplate::up_to, offsetof(Outcome, up_to), offsetof(Outcome, up_tos)},
    {&lang::VerdictTemplate::mask, 0, offsetof(Outcome, mask)},
    {&lang::VerdictTemplate::subset, 0, offsetof(Outcome, subset)},
    {&lang::VerdictTemplate::age_limit, offsetof(Outcome, age_limit), 0},
    {&lang::VerdictTemplate::until, offsetof(Outcome, until), offsetof(Outcome, untils)},
    {&lang::VerdictTemplate::readmitted, 0, offsetof(Outcome, readmitted)},
    {&lang::VerdictTemplate::scores, 0, offsetof(Outcome, scores)},
    {&lang::VerdictTemplate::reward, offsetof(Outcome, reward), 0},
    {&lang::VerdictTemplate::loss, offsetof(Outcome, loss), 0},
    {&lang::VerdictTemplate::slope, offsetof(Outcome, slope), 0},
    {&lang::VerdictTemplate::advantages, 0, offsetof(Outcome, advantages)},
    {&lang::VerdictTemplate::weights, 0, offsetof(Outcome, weights)},
    {&lang::VerdictTemplate::baseline, offsetof(Outcome, baseline), offsetof(Outcome, baselines)},
};

}  // namespace allot::compiler
