// A plain model of the budget's protocol, and long random histories that hold the ledger against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace allot::engine::bench {

struct LedgerHistory {
  std::int64_t events = 0;
  std::int64_t starts = 0, refused = 0, settled = 0;
  std::int64_t accepted = 0, dropped = 0, cancelled = 0, deferred = 0, crashes = 0, iterations = 0;
  std::optional<std::string> problem;  // the first thing that is not as the model says
};

// `events` random events over many ledgers, each checked after it happened.
LedgerHistory random_ledger_history(std::uint64_t seed, std::int64_t events);

}  // namespace allot::engine::bench
