// The part of `allot replay` that plays a run again.
#pragma once

#include <string>

#include "runtime/cli/command.h"

namespace allot::cli {

Exit replay_journal(const std::string& run, bool json);

}  // namespace allot::cli
