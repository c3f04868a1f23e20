// Precedence, in plain C++: the grammar reads one flat chain of operands and operators, and this gives it its shape.
//
// From loosest to tightest: or · and · not · comparisons and `is undefined` · ?? · + - · * / mod · unary - · . [] ()
#pragma once

#include <vector>

#include "lang/grammar/state.h"

namespace allot::lang::grammar {

struct Link {
  enum class Kind { Prefix, Operand, Infix, Test };
  Kind kind = Kind::Operand;
  Symbol symbol;  // of all but an operand
  tree::ExprId operand = tree::none;
};
using Chain = std::vector<Link>;

// The expression that the chain means. Refuses a chain that is too long or compares in two directions.
tree::ExprId climb(const Chain& chain, State& state);

}  // namespace allot::lang::grammar
