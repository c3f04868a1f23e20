// Values of nodes whose operands are literals: to refuse what is sure to fault, to tell a condition that never changes,
// and to read the defaults of parameters and state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"

namespace allot::lang::checker {

struct Folded {
  std::optional<Cell> value;  // none: not a constant, or a fault
  std::string fault;          // "division by zero", "does not fit into 64 bits", …; empty: none
};

// `values[i]` is the constant of node.args[i].
Folded fold(const Node& node, const std::vector<Cell>& values, const std::vector<Type>& types);

}  // namespace allot::lang::checker
