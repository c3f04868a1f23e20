// How a command ends, whatever comes: its errors, as text and as JSON, and whether standard output could be written.
#pragma once

#include <functional>

#include "runtime/cli/command.h"

namespace allot::cli {

// Runs the command and gives the exit status of the program. `json`: who asked reads one document from standard output,
// so where the command failed and said nothing there, it is {"error": …, "help": …}.
Exit run_to_end(bool json, const std::function<Exit()>& command);

// To be called where standard output does not take what is written, as fmt::print does by itself.
[[noreturn]] void output_failed();

}  // namespace allot::cli
