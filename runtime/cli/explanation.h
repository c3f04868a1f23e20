// Everything that can be said of a checked policy without a run, as one JSON document; text is rendered from it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lang/program.h"

namespace allot::cli {

// `parameters` are the values that hold, in the order of the program's parameters (lang::bind).
nlohmann::ordered_json explanation(const lang::Program& program, const std::vector<lang::Cell>& parameters);

// One of its values as people read it: a text as it is, "0.12", "true".
std::string value_text(const nlohmann::ordered_json& value);

// For people, at most 120 columns where the policy's own words allow it.
std::string explanation_text(const nlohmann::ordered_json& explanation);

}  // namespace allot::cli
