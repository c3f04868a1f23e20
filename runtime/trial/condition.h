// A plain condition of a test as one more handler of the same policy, so that it means what it would mean there.
#pragma once

#include <string>

#include "lang/diagnostics.h"
#include "lang/program.h"
#include "lang/tree.h"

namespace allot::trial {

inline constexpr int condition_wave = 100'003;  // no group has so many

// The policy and that handler, on wave `condition_wave` of the group of this name: it drops the group where the
// condition holds.
std::string condition_source(const lang::Program& program, const lang::tree::Expect& expect, const std::string& group);

// What is wrong with it, a line each. That handler stands in no file: its places say nothing to people.
std::string without_places(const lang::Diagnostics& diagnostics);

}  // namespace allot::trial
