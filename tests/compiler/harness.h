// Two engines, one question: where do they differ?
#pragma once

#include <functional>
#include <string>

#include "tests/compiler/random_program.h"

namespace allot::compiler::test {

// The program of a seed: every fourth over single values alone, which a batch decides side by side.
Program any_program(std::uint64_t seed);
bool is_scalar(const Program& program);  // scalar_program() made it
Memory memory_for(const Program& program, std::uint64_t seed);

// Evaluator, O0 and Full of one program.
class Engines {
 public:
  explicit Engines(const Program& program);
  // The machine code is of another program than the evaluator's: a miscompilation on purpose.
  Engines(const Program& program, const Program& compiled);

  // Empty where all agree on the frame of that seed; else the program, the frame and all answers, for people.
  std::string difference(std::uint64_t seed, const std::function<void(const Answer&)>& see = {}) const;

 private:
  const Program& program_;
  std::unique_ptr<Executable> evaluator_, plain_, full_;
};

}  // namespace allot::compiler::test
