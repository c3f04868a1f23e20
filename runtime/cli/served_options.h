// What a served run was begun with: one that goes on under other options would mix two runs in one journal.
#pragma once

#include "common/result.h"
#include "runtime/engine/engine.h"

namespace allot::cli {

// Against the journal of `settings.run_folder`, where it tells; an error names each option that differs. The policy may be any
// that the run was under, since its file may have been edited for a swap. Gives the settings to resume with: with the text
// that the run began with.
Result<engine::Settings> check_resumed(const engine::Settings& settings);

}  // namespace allot::cli
