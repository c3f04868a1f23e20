// What the host supplies for the `input`s of a policy. An input is state that only the host writes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/state.h"

namespace allot::engine {

// By name of the input, then by prompt or category; the one value of an input per run stands under "". Counts, truths
// (0 or 1) and reals alike are numbers here. A key that is absent is undefined.
using InputValues = std::map<std::string, std::map<std::string, double>>;

// {"difficulty": {"p1": 0.3, "p2": null}, "anchor": 0.5}
Result<InputValues> read_inputs(const std::filesystem::path& file);

// Every input that the program declares is supplied, and every value is of its type. Before a run costs anything.
Result<void> check_inputs(const lang::Program& program, const InputValues& values);
// … and those that are never undefined are there for these prompts.
Result<void> check_inputs(const lang::Program& program, const InputValues& values,
                          const std::vector<std::string>& prompts);

// Those that the program declares; what another policy asked for is no mistake.
InputValues declared_inputs(const lang::Program& program, const InputValues& values);

// Into the store, where handlers read them. After check_inputs().
void supply(const lang::Program& program, const InputValues& values, StateStore& store);

}  // namespace allot::engine
