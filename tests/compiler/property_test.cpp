// The evaluator, plain and optimised machine code agree bit for bit on everything a decision leaves behind, over random
// programs and random frames. ALLOT_PROPERTY_PROGRAMS and ALLOT_PROPERTY_SEED widen the search.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <set>

#include "lang/builtins.h"
#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("all engines agree on random programs") {
  const std::uint64_t programs = number("ALLOT_PROPERTY_PROGRAMS", 300);
  const std::uint64_t first = number("ALLOT_PROPERTY_SEED", 1);
  constexpr std::uint64_t frames = 200;
  std::map<std::string, int> parts;
  std::set<FaultKind> faults;
  int rules = 0, fired = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = random_program(seed);
    count_parts(program, parts);
    const Engines engines(program);
    std::set<int> answered;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
      const std::string difference = engines.difference(seed * 1000 + frame, [&](const Answer& answer) {
        answered.insert(answer.outcome.rule);
        faults.insert(answer.outcome.fault);
      });
      if (!difference.empty()) FAIL("seed " << seed << ", frame " << frame << "\n" << difference);
    }
    answered.erase(-1);
    rules += static_cast<int>(program.handlers.front().rules.size());
    fired += static_cast<int>(answered.size());
  }
  INFO(fired << " of " << rules << " rules answered");
  CHECK(fired * 10 >= rules * 6);   // programs whose rules never answer would prove little
  if (programs < 300) return;
  for (int op = 0; op <= static_cast<int>(Op::Align); ++op) CHECK(parts["op " + std::to_string(op)] > 0);
  for (int one = 0; one <= static_cast<int>(allot::lang::Reduction::All); ++one)
    CHECK(parts["reduction " + std::to_string(one)] > 0);
  for (int one = 0; one <= static_cast<int>(allot::lang::EffectKind::ForEach); ++one)
    CHECK(parts["effect " + std::to_string(one)] > 0);
  for (const allot::lang::Builtin& row : allot::lang::builtins()) {
    INFO(row.name);
    CHECK(parts["call " + std::string(row.name)] > 0);
  }
  CHECK(faults.size() == 7);   // none, and each kind there is
}
