// Runs the `test` blocks of a policy: each asks a handler about a group that is written down, and compares the answer
// with all four fields of the expected verdict.
//
// What a record leaves out is alive, unscored, and of the prompt "p".
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/verdict.h"

namespace allot::trial {

struct Options {
  std::string only;      // run the tests whose title contains this; empty: all
  bool native = false;   // ask machine code as well, and fail where the two differ in a bit
};

struct ExpectReport {
  int line = 0;          // of the `expect`
  std::string text;      // as written
  bool passed = false;
  std::string expected;  // "stop, drop"
  std::string got;       // "continue because …", or why there is no answer
  std::optional<engine::Verdict> verdict;  // what was answered, where a point was asked
  std::string trace;     // one line a value read, the rule that answered, and its reason
};

struct TestReport {
  std::string title;
  int line = 0;
  bool passed = false;
  std::string error;     // why the test could not be run; empty where it could
  std::vector<ExpectReport> expects;
  std::set<std::pair<int, int>> fired;  // rules that answered: index of the handler, index of the rule in it
};

std::vector<TestReport> run(const lang::Program& program, const Options& options = {});

// What `allot test` prints: one line a test, and the trace of those that failed.
std::string render(const std::vector<TestReport>& reports, const lang::Program& program);

}  // namespace allot::trial
