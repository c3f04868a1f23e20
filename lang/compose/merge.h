// Several programs as one.
#pragma once

#include <string>
#include <vector>

#include "lang/diagnostics.h"
#include "lang/program.h"

namespace allot::lang::compose {

struct Part {
  std::string name;   // parameters, state, reports and draws are `name.…`; empty: they keep their names
  std::string shown;  // in messages
  Program program;
  Span span;          // where the composition names it
};

// Handlers, declarations and rules of all parts in their order; `into` has its name, text and tree already. What the
// parts cannot agree on is told.
void merge(Program& into, std::vector<Part> parts, Diagnostics& diagnostics);

}  // namespace allot::lang::compose
