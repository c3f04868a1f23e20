// An `expect` of a scenario, held against the iteration before it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/live_engine.h"
#include "runtime/trial/record.h"
#include "runtime/trial/script.h"
#include "runtime/trial/trial.h"

namespace allot::trial {

struct ScenarioAnswer {  // to one question about a group
  int handler = -1;
  std::string prompt;
  int number = 0;        // turn or wave
  engine::Verdict verdict;
  std::string fault;
};

// An iteration that was played. What it refers to must outlive it.
struct PlayedIteration {
  const lang::Program& program;
  const std::vector<lang::Cell>& parameters;
  engine::LiveEngine& engine;
  const engine::IterationReport& report;
  const std::map<std::string, Course>& courses;   // by prompt
  const std::vector<ScenarioAnswer>& answers;     // in the order of asking
};

// `allowance` is that of the whole scenario.
ExpectReport check_expect(const PlayedIteration& played, const lang::tree::ScenarioExpect& expect,
                          Allowance& allowance);

}  // namespace allot::trial
