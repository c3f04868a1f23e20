// What an `expect` of a scenario can look at after an iteration: its groups, states, the ledger, reports and counts.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "runtime/engine/live_engine.h"
#include "runtime/trial/claims.h"
#include "runtime/trial/record.h"
#include "runtime/trial/script.h"

namespace allot::trial {

std::optional<std::size_t> state_named(const lang::Program& program, const std::string& name);

class View {
 public:
  // All of them must outlive it.
  View(const lang::Program& program, engine::LiveEngine& engine, const engine::IterationReport& report,
       const std::map<std::string, Course>& courses)
      : program_(program), engine_(engine), report_(report), courses_(courses) {}

  // An error says what there is instead.
  Result<Value> look(const Place& asked) const;

 private:
  Result<Value> look_at_state(std::size_t index, const Place& asked) const;
  std::optional<Result<Value>> look_at_budget(const Place& asked) const;
  Result<Value> look_at_report(const std::string& name) const;
  Result<Value> look_at_run(const std::string& name) const;
  std::int64_t warned() const;

  const lang::Program& program_;
  engine::LiveEngine& engine_;
  const engine::IterationReport& report_;
  const std::map<std::string, Course>& courses_;
};

}  // namespace allot::trial
