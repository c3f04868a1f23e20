// Which rules the tests of a policy made answer.
#pragma once

#include <string>
#include <vector>

#include "runtime/trial/trial.h"

namespace allot::trial {

struct RuleCoverage {
  std::string file;      // in which it stands: of a composition that of a member
  int line = 0;
  std::string point;     // "on turn at of group g"
  std::string text;      // of the rule, on one line
  int times = 0;         // tests that it answered in
};

// Every rule that is written down, once, in order of the files. Where members of a composition answer together, each
// rule counts that held.
std::vector<RuleCoverage> coverage(const lang::Program& program, const std::vector<TestReport>& reports);

}  // namespace allot::trial
