// Random well-typed programs and random frames for them: what the engines are compared on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/compiler/builder.h"

namespace allot::compiler::test {

// Counter-based, so that a seed says everything.
class Dice {
 public:
  // Rolled once, or the stream of one seed would be that of the next, one roll later.
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL) { state_ = roll(); }
  std::uint64_t roll();
  int below(int bound) { return static_cast<int>(roll() % static_cast<std::uint64_t>(bound)); }
  bool once_in(int times) { return below(times) == 0; }

 private:
  std::uint64_t state_;
};

// One handler with rules, holes, operands and effects over all types of cell.
Program random_program(std::uint64_t seed);

// Mostly plain values, some extremes; undefined where the type allows it and, rarely, where it does not.
Memory random_memory(const Program& program, std::uint64_t seed);

// The cells of the scratch that go with it: mostly plenty, sometimes next to none.
std::size_t random_scratch(std::uint64_t seed);

// How often what occurs, by name: "op 11", "reduction 2", "effect 3", "call min".
void count_parts(const Program& program, std::map<std::string, int>& counts);

}  // namespace allot::compiler::test
