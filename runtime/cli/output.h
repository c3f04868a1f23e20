// How a command ends, whatever comes: its errors, as text and as JSON, and whether standard output could be written.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "runtime/cli/command.h"

namespace allot::cli {

// Runs the command and gives the exit status of the program. `json`: who asked reads one document from standard output,
// so where the command failed and said nothing there, it is {"error": …, "help": …}, with the `diagnostics` of policies
// where those are wrong.
Exit run_to_end(bool json, const std::function<Exit()>& command);

// For that document: the diagnostics, a JSON array, of a policy that could not be read.
void keep_diagnostics(const nlohmann::ordered_json& diagnostics);

// From here on each line of standard output is a document of its own, and a reader who has taken many cannot see that
// there should have been more. So where the command fails later on, the document that says so is the last line.
void say_lines();

// To be called where standard output does not take what is written, as fmt::print does by itself.
[[noreturn]] void output_failed();

}  // namespace allot::cli
