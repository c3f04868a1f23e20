#include "tests/compiler/shrink.h"

#include <catch2/catch.hpp>

#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

// Some frame makes the evaluator divide by zero: stands for a difference, and costs no compilation.
bool divides_by_zero(const Program& program) {
  const auto evaluator = evaluate(program);
  for (std::uint64_t frame = 0; frame < 40; ++frame) {
    Memory memory = memory_for(program, frame);
    Scratch scratch;
    if (ask(*evaluator, program, memory, scratch).outcome.fault == FaultKind::DivisionByZero) return true;
  }
  return false;
}

}  // namespace

// By hand: a division, what it divides and a zero, and the rule, effect or key that asks for them, are all that it
// takes.
TEST_CASE("what makes a program fail is found in a program of hundreds of nodes") {
  int shrunk = 0;
  for (std::uint64_t seed = 1; shrunk < 5; ++seed) {
    REQUIRE(seed < 200);
    Program program = any_program(seed);
    if (!divides_by_zero(program) || node_count(program) < 60) continue;
    const Program small = shrink(program, divides_by_zero);
    INFO("seed " << seed << "\n" << text(small));
    CHECK(divides_by_zero(small));
    CHECK(node_count(small) <= 12);
    ++shrunk;
  }
}
