// Every limit of the language in one place, with its reason. Nothing else in lang/ holds a bound.
#pragma once

#include <cstddef>

namespace allot::lang {

struct Limits {
  std::size_t source_bytes = 1 << 20;    // a policy is pages, not megabytes; bounds every later table
  int depth = 128;                       // brackets, unary operators, holes, ifs: the parser recurses, stacks are small
  int loops = 8;                         // inside each other: what they cost together is the product of what each walks
  int chain_terms = 1000;                // operands of one flat chain `a + b + c …`: the typed tree is as deep
  int items = 2000;                      // declarations, handlers and tests of a file
  std::size_t files = 64;                // of one policy: its own, what it imports and what it is composed of
  int statements = 2000;                 // of one handler
  int typed_nodes = 200'000;             // after functions are put in place of their calls
  int errors = 50;                       // shown for one file; the rest is counted
  std::size_t kept_errors = 5000;        // kept before they are sorted by place
  std::size_t shown_name = 100;          // letters of a word in a message; what is longer is cut
  std::int64_t allotted_units = 1 << 22; // that one allotment gives out one by one: each asks its utility once
  std::int64_t allotted_span = 4096;     // HI - LO where the utility is not concave, so that the work has a bound
  std::int64_t allotted_cells = 1 << 20; // and items times units that can be given out there: memory
  std::int64_t allotted_steps = 1 << 27; // and those times HI - LO: about a quarter of a second
  int state_cells = 64;                  // of one state: a matrix of 8 by 8; there is one for every prompt
  std::size_t string_bytes = 4096;       // of one message
};

inline constexpr Limits limits{};

}  // namespace allot::lang
