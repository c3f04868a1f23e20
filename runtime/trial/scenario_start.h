// What a scenario gives before its first iteration, and the engine that begins with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/live_engine.h"
#include "runtime/trial/record.h"

namespace allot::trial {

struct ScenarioStart {
  std::vector<lang::Cell> parameters;
  std::vector<std::string> pool;   // empty: each iteration names its prompts
  int tokens = 0;                  // of each turn
  std::unique_ptr<engine::LiveEngine> engine;
};

// `native`: machine code decides. `allowance` is that of the whole scenario.
Result<ScenarioStart> start(const lang::Program& program, const lang::tree::ScenarioDecl& scenario, bool native,
                            Allowance& allowance);

}  // namespace allot::trial
