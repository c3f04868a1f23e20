// Which rules the tests of a policy made answer.
#pragma once

#include <string>
#include <vector>

#include "runtime/trial/trial.h"

namespace allot::trial {

struct RuleCoverage {
  int handler = 0;       // index into Program::handlers
  int rule = 0;          // index into Handler::rules
  int line = 0;
  std::string point;     // "on turn at of group g"
  std::string text;      // of the rule, on one line
  int times = 0;         // tests that it answered in
};

// Every rule of every handler, in order of the file.
std::vector<RuleCoverage> coverage(const lang::Program& program, const std::vector<TestReport>& reports);

}  // namespace allot::trial
