// What a test makes of an answer: why it came, whether two ways to it agree, and whether it is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/question.h"
#include "runtime/engine/verdict.h"

namespace allot::trial {

using engine::Answer;
using engine::Verdict;
using lang::Cell;

// The facts that the handler looks at and the parameters that it uses; a line each.
std::string values_of(const lang::Program& program, const lang::Handler& handler, const std::vector<Cell>& reads,
                      const std::vector<std::string>& prompts, const std::vector<Cell>& parameters);
// The rule that answered, a line.
std::string answered_by(const Verdict& verdict);
// An error where machine code answers otherwise than the evaluator, in whatever.
std::optional<Error> differ(const lang::Program& program, const lang::Handler& handler, const Answer& answer,
                            const Verdict& verdict, const Answer& other, const std::vector<std::string>& prompts);
// An error where the answer is a fault. The handler of a condition stands in no file, so its place is not told.
std::optional<Error> fault(const lang::Program& program, const lang::Handler& handler, const Answer& answer, bool of_condition);

}  // namespace allot::trial
