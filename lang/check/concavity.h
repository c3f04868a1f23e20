// Whether a utility is concave in the count that an allotment gives, by the rules that keep a curve's bend: sums,
// factors of known sign, the smaller of two, rising functions of curves, and what the table of functions declares.
// What the rules do not show is not known; it is never guessed from values.
#pragma once

#include <string>

#include "lang/check/range.h"

namespace allot::lang::checker {

struct Concavity {
  bool concave = false;
  std::string why;          // for people: what showed it, or what stood in the way
  // Where a function bends the right way only from some argument on and the lowest count lies below it: the count to
  // start from; else -1.
  double start = -1;
};

// `counts` is the loop whose position is the count, which lies in `range`; nodes before `first` were made before it.
Concavity concavity(const Policy& policy, const Builder& builder, Ranges& ranges, NodeId utility, int counts,
                    NodeId first, Interval range);

}  // namespace allot::lang::checker
