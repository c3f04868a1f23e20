// What a test asks a handler of a group: the record's facts in one question. Of anything but groups: asked.h.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "common/result.h"
#include "compiler/executable.h"
#include "lang/program.h"
#include "runtime/engine/ledger.h"
#include "runtime/engine/question.h"
#include "runtime/engine/state.h"
#include "runtime/trial/record.h"

namespace allot::trial {

// The policy of a test with what the test gives. What it refers to must outlive it.
struct TestedPolicy {
  const lang::Program& program;
  const std::vector<lang::Cell>& parameters;
  const std::vector<std::pair<std::size_t, std::vector<lang::Cell>>>& given_states;
  const engine::Ledger& ledger;
  const compiler::Executable& evaluator;   // for the `hit` condition
  engine::StateStore& store;               // where the given states come to stand
};

// `program` is the policy's own, or that of a plain condition over it, with its handler. The hits of the record's
// rollouts are known afterwards. An error where the record is none of a group, or contradicts itself.
std::optional<Error> fill(engine::Question& question, const TestedPolicy& tested, const lang::Program& program,
                          const lang::Handler& handler, const Record& record);

}  // namespace allot::trial
