// What two versions of a policy declare and answer differently, and whether the second fits where the first is used.
#pragma once

#include <string>
#include <vector>

#include "lang/program.h"

namespace allot::lang {

struct Difference {
  enum class Effect {
    Adds,     // nothing that was there is touched
    Decides,  // the same settings and inputs fit, decisions may be others
    Breaks    // a setting, an input, an import or what was remembered does not fit any more
  };
  Effect effect = Effect::Adds;
  std::string part;   // "parameter", "state", "input", "point", "statistic", "budget", "function", "declaration", "report"
  std::string name;   // of it, as the author wrote it
  std::string words;  // "its default is 0.2, and was 0.12"
};

// In a fixed order: parameters, inputs, state, points, statistics, budgets and other declarations, functions, reports.
// Handlers are compared as they are written, without comments and white space: two that differ may still answer alike.
std::vector<Difference> differences(const Program& before, const Program& after);

// No difference breaks.
bool compatible(const std::vector<Difference>& differences);

}  // namespace allot::lang
