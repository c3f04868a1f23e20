// Text to tree. Every top-level item is read alone, so a mistake in one never hides those of another.
#pragma once

#include <cstddef>
#include <optional>

#include "lang/diagnostics.h"
#include "lang/source.h"
#include "lang/tree.h"

namespace allot::lang {

// The tree of everything that could be read; mistakes are in `diagnostics`, so look there too. Empty where the text
// could not be cut into items at all (not UTF-8, too large). Names of items that could not be read are in `unread`.
// Reads one file of the source.
std::optional<tree::File> parse(const Source& source, Diagnostics& diagnostics, std::size_t file = 0);

// The whole source as one expression, added to the arena of `into`; `tree::none` where it is none.
tree::ExprId parse_expression(const Source& source, tree::File& into, Diagnostics& diagnostics);

}  // namespace allot::lang
