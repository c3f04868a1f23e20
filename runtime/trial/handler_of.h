// Which handler answers what a test asks about a record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/trial/record.h"

namespace allot::trial {

// Nothing where no test can ask it.
std::optional<lang::Point> point_named(const std::string& name);

// Whether a handler decides about records of this kind.
bool about(const lang::Handler& handler, const std::string& kind);

// The wave that a group has come to; 0 of any other record.
int wave_of(const Record& record);

// The most specific handler of the point that is asked about such a record, or engine::no_handler. `number` is the turn
// or wave of a group.
int handler_of(const lang::Program& program, const std::vector<lang::Cell>& parameters, lang::Point point,
               const Record& record, int number);

}  // namespace allot::trial
