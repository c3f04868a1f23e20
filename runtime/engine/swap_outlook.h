// What a swap would meet, told beforehand: why it would be refused, what it would lose, and when it would take over.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap.h"

namespace allot::engine {

// As much of a run as is known.
struct KnownRun {
  std::optional<Settings> settings;   // what it was started with
  std::optional<ReadSnapshot> state;  // as of its last barrier
};

struct SwapOutlook {
  std::vector<Error> refusals;       // each is enough
  std::string waits;                 // why it would take over at the end of an iteration only; empty: at once
  StateChanges state;
  std::vector<std::string> budgets;  // that differ: "tokens per run: 5000 -> 10 (12 of them are spent)"
  std::vector<std::string> handlers; // that nobody would be asked for any more: "`on finish of group g`"
};

// Parameters are bound in both. What only the moment of the swap decides is not in it: which version is expected, and
// what is remembered since the snapshot.
SwapOutlook foresee_swap(const std::shared_ptr<Policy>& active, const std::shared_ptr<Policy>& next, KnownRun run);

}  // namespace allot::engine
