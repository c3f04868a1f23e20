// Where a text names values. Many words of the grammar may name one as well: the tree tells which is meant.
#pragma once

#include <cstdint>
#include <vector>

#include "lang/format/tokens.h"
#include "lang/tree.h"

namespace allot::lsp {

// Where the tokens begin, ascending, that name a value or a function of this file: in expressions, and where tests and
// scenarios set and give. Where a name is declared is not among them.
std::vector<std::uint32_t> places_of_values(const lang::tree::File& tree,
                                            const std::vector<lang::format::Token>& tokens);

}  // namespace allot::lsp
