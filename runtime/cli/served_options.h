// What a served run was begun with: one that goes on under other options would mix two runs in one journal.
#pragma once

#include "common/result.h"
#include "runtime/engine/engine.h"

namespace allot::cli {

// Against the journal of `settings.run_folder`, where it tells; an error names each option that differs. Without a policy it
// goes on under its own. One that is named may be any that the run was under, by the text of its file: what that imports may
// be edited or broken by now. Gives the settings to resume with: with the text that the run began with.
Result<engine::Settings> check_resumed(const engine::Settings& settings);

}  // namespace allot::cli
