// One value as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "lang/cell.h"
#include "lang/types.h"

namespace allot::cli {

// A number, true or false, null where it is undefined; a text of anything else ("beta(1, 1)"). The unit is not told.
nlohmann::ordered_json cell_json(const lang::Cell& cell, const lang::Type& type);

}  // namespace allot::cli
