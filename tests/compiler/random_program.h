// Random well-typed programs and random frames for them: what the engines are compared on.
#pragma once

#include <cstdint>

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

// One handler with rules, holes, operands and effects over all types of cell, now and then a `hit` condition. Nearly
// every rule answers some frame of the program's own seed (frame_seed).
Program random_program(std::uint64_t seed);

// The seed of a frame of the program of that seed.
constexpr std::uint64_t frame_seed(std::uint64_t program, std::uint64_t frame) {
  return program * 1000 + frame;
}

// Mostly plain values, some extremes; undefined where the type allows it and, rarely, where it does not.
Memory random_memory(const Program& program, std::uint64_t seed);

// The cells of the scratch that go with it: mostly plenty, sometimes next to none.
std::size_t random_scratch(std::uint64_t seed);

}  // namespace allot::compiler::test
