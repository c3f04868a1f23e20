// The one layout of policies, `allot fmt`.
//
// Lines stay the author's: what stands on one line stays there, and nothing is joined or broken. Everything within and
// before a line is settled: indentation, blanks, empty lines, and the columns of comments after code. So formatting can
// neither change what a policy means nor lose a comment, and formatting twice is formatting once.
#pragma once

#include <optional>
#include <string>

#include "lang/diagnostics.h"
#include "lang/source.h"

namespace allot::lang::format {

// Nothing where the text has syntax errors, which are then in `diagnostics`.
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

// What changed, as a unified diff with `name` in its head; empty where nothing did.
std::string difference(const std::string& name, const std::string& before, const std::string& after);

}  // namespace allot::lang::format
