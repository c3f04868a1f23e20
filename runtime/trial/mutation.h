// Which parts of a policy can be changed without its tests noticing.
//
// A mutant is the policy with one small change in its rules, declarations or functions. A change after which the policy
// does not check any more is no mutant; one that no test notices is a survivor: a test is missing, or the part has no
// effect. Changed is the file of the policy itself: what stands in files that it uses has its tests there.
#pragma once

#include <string>
#include <vector>

#include "lang/program.h"

namespace allot::trial {

struct Mutant {
  int line = 0;
  int column = 0;
  std::string change;  // "`<` became `>`"
  std::string text;    // of the whole mutated file
  // Of a composition's members: a test that speaks of what is gone does not check, and so has noticed it; another order
  // is no mutant where the members answer at no point together.
  enum class Members { Same, Fewer, Reordered };
  Members members = Members::Same;
};

struct MutationOptions {
  // `<` becomes `<=` as well: noticed only by tests that stand on the boundary itself.
  bool boundaries = false;
};

// All changes that can be thought of, in order of the file: a comparison swapped, a number nudged (an int by one, a real by
// half of it), an action left out or replaced by its opposite, the number behind `??` replaced, `and` for `or`, a
// condition that never holds, `is undefined` for its opposite, + for -, * for /, min for max and the like. Of a composition:
// a member left out, two that stand side by side in the other order, a number that one is given.
std::vector<Mutant> mutants(const lang::Program& program, const MutationOptions& options = {});

struct MutationReport {
  int tried = 0;       // mutants that check
  int refused = 0;     // changes that the checker refuses, or that change nothing
  std::vector<Mutant> survivors;
};

// The tests must pass as they are; each mutant is asked by the evaluator until a test fails.
MutationReport mutate(const lang::Program& program, const MutationOptions& options = {});

}  // namespace allot::trial
