// What both engines share about an Outcome: how it looks before anything has been decided.
#pragma once

#include <algorithm>

#include "compiler/executable.h"

namespace allot::compiler {

// Every field that a decision may leave alone gets its empty value, so a caller can use one Outcome again and again.
inline void clear(Outcome& outcome, const lang::Program& program, const lang::Handler& handler) noexcept {
  outcome.fault = FaultKind::None;
  outcome.fault_node = -1;
  outcome.rule = -1;
  outcome.amount = outcome.up_to = Cell::undefined();
  outcome.amounts = outcome.up_tos = outcome.mask = outcome.subset = Column{};
  if (outcome.holes != nullptr) std::fill_n(outcome.holes, handler.hole_count, Cell::undefined());
  if (outcome.reports != nullptr) std::fill_n(outcome.reports, program.reports.size(), Cell::undefined());
  if (outcome.report_written != nullptr) std::fill_n(outcome.report_written, program.reports.size(), std::uint8_t{0});
  if (outcome.warned != nullptr) std::fill_n(outcome.warned, program.warnings.size(), std::uint8_t{0});
}

}  // namespace allot::compiler
