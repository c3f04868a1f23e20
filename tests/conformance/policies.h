// Whole policies of stdlib/ on a vector's input.
#pragma once

#include <string>

#include "tests/conformance/registry.h"

namespace allot::conformance {

// What a policy of stdlib/ answers at `point` to the record, whose `{name}`s stand for inputs as literals:
//   decided("edas", {{"limit", "2.0"}}, "shape", "group { rewards: {correct}, … }", in).
// {"advantages": …, "subset": …, "amounts": …, "reward": …}, of which those are there that it sets. By the evaluator and
// by machine code, where there is that. Throws std::runtime_error with what went wrong.
Json decided(const std::string& policy, const std::map<std::string, Json>& parameters, const std::string& point,
             const std::string& record, const Json& inputs);

}  // namespace allot::conformance
