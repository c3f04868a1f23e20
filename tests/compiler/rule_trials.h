// Rules are tried while a random program is made: one that never answers proves nothing about the engines.
#pragma once

#include <functional>
#include <vector>

#include "tests/compiler/random_program.h"

namespace allot::compiler::test {

class RuleTrials {
 public:
  using MakeMemory = Memory (*)(const Program& program, std::uint64_t seed);

  // Of a program whose parameters, reads, columns and states are declared; rules may follow.
  RuleTrials(const Program& program, std::uint64_t seed, MakeMemory make = random_memory);

  struct Tally {
    int answered = 0;  // frames that the rule answers
    int left = 0;      // frames that no rule answers, and none faults on
  };
  Tally ask(const Program& program, int rule);

  // `write` adds one rule. What it writes is taken back and written anew until the rule answers some frames, and leaves
  // some where others are to follow. After many attempts a rule stays as it is.
  void add(Program& program, bool others_follow, const std::function<void()>& write);

 private:
  std::vector<Memory> frames_;
  std::vector<std::size_t> scratch_;
};

}  // namespace allot::compiler::test
