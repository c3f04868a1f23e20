// The evaluator, plain and optimised machine code, and the batch agree bit for bit on everything that a decision leaves
// behind, over random programs and random frames. `./dev fuzz` does the same without end; ALLOT_PROPERTY_PROGRAMS and
// ALLOT_PROPERTY_SEED widen this one.
#include <catch2/catch.hpp>

#include <set>

#include "tests/compiler/batch_harness.h"
#include "tests/compiler/harness.h"
#include "tests/compiler/parts.h"
#include "tests/compiler/scalar_program.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

constexpr std::uint64_t all_programs = 2000;
constexpr std::uint64_t frames = 500;
constexpr std::uint64_t shares = 4;  // test cases, which run at the same time

struct Seen {
  int programs = 0;
  int lively = 0;  // each rule answers some frame
  int vectorised = 0;
  std::map<std::string, int> parts;  // programs that have it
  std::set<FaultKind> faults;
};

void compare(std::uint64_t seed, Seen& seen) {
  const Program program = any_program(seed);
  for (const std::string& part : parts_of(program)) ++seen.parts[part];
  const Engines engines(program);
  std::set<int> answered;
  for (std::uint64_t frame = 0; frame < frames; ++frame) {
    const std::string difference = engines.difference(frame_seed(seed, frame), [&](const Answer& answer) {
      if (answer.outcome.rule >= 0) answered.insert(answer.outcome.rule);
      seen.faults.insert(answer.outcome.fault);
    });
    if (!difference.empty()) FAIL("seed " << seed << ", frame " << frame << "\n" << difference);
  }
  const Comparison batch = compare_batches(program, program, seed, is_scalar(program) ? frames : 40);
  if (!(batch.evaluator == batch.machine)) FAIL("seed " << seed << ", as a batch\n" << text(program));
  seen.vectorised += batch.vectorised;
  seen.lively += answered.size() == program.handlers.front().rules.size();
  ++seen.programs;
}

// Shares are drawn alike, so what is asked of all programs is asked of each share.
void agree(std::uint64_t share) {
  const std::uint64_t programs = seed_of("ALLOT_PROPERTY_PROGRAMS", all_programs) / shares;
  const std::uint64_t first = seed_of("ALLOT_PROPERTY_SEED", 1) + share * programs;
  Seen seen;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) compare(seed, seen);
  if (programs < all_programs / shares) return;
  INFO(seen.lively << " of " << seen.programs << " programs have no rule that never answers");
  CHECK(seen.lively * 10 >= seen.programs * 9);
  CHECK(seen.vectorised * 10 >= seen.programs);
  for (const std::string& part : all_parts()) {
    INFO(part << ": in " << seen.parts[part] << " of " << seen.programs << " programs");
    CHECK(seen.parts[part] * 100 >= seen.programs);
  }
  CHECK(seen.faults.size() == 7);  // none, and each kind there is
}

}  // namespace

TEST_CASE("all engines agree on random programs, first quarter") {
  agree(0);
}
TEST_CASE("all engines agree on random programs, second quarter") {
  agree(1);
}
TEST_CASE("all engines agree on random programs, third quarter") {
  agree(2);
}
TEST_CASE("all engines agree on random programs, last quarter") {
  agree(3);
}
