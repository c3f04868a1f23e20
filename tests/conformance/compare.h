// Whether a computed value is the expected one, by a vector's own tolerance.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/registry.h"

namespace allot::conformance {

// {"exact": true} · {"abs": x} · {"rel": x} · both (the wider counts) · {"exact_ints": true, "abs": x}, where whole
// numbers must be equal and the bound is for the others.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  bool exact_ints = false;
};
// Throws std::invalid_argument for a key that it does not know: a bound that is not understood must not pass.
Tolerance parse_tolerance(const Json& json);

// What differs, one line each with its place, empty where nothing does. Objects must have the same keys, lists the same
// length; a number may be written "nan", "inf" or "-inf".
std::vector<std::string> differences(const Json& expected, const Json& actual, const Tolerance& tolerance);

// A number of a vector, the words above included. Throws std::invalid_argument for anything else.
double number(const Json& json);
std::vector<double> numbers(const Json& list);

}  // namespace allot::conformance
