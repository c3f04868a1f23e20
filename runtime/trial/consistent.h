// Whether there could be a group of which a record tells.
#pragma once

#include "common/result.h"
#include "runtime/engine/facts.h"
#include "runtime/trial/record.h"

namespace allot::trial {

// What a record of a group says outright must be what follows from its rewards, and its counts must fit together: no
// more hits than scores, no more scores than rollouts. The hits of its rollouts are known. The error names both sides.
Result<void> consistent(const Record& record, const engine::RunFacts& run);

}  // namespace allot::trial
