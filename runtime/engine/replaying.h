// A run played again: the events that its journal holds go through an engine, and all that this engine would write into
// a journal of its own is compared with what was written then, bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace allot::engine {

struct ReplayDifference {
  std::string place;      // of the recorded line; "journal/000001.jsonl:17"
  int iteration = 0;
  std::string kind;       // of the record
  std::string member;     // the first that differs; empty: the whole record
  std::string recorded;   // JSON; "nothing" where it is not there
  std::string replayed;
};

struct ReplayResult {
  std::int64_t iterations = 0;
  std::int64_t events = 0;       // turns, endings, questions before the loss
  std::int64_t records = 0;      // compared
  std::int64_t differing = 0;
  std::optional<ReplayDifference> first;
  std::vector<std::string> damage;
  std::int64_t swaps = 0;        // policies that took their place, canaries that came or went, rollbacks
  std::string swapped;           // a swap of an older journal, which does not tell where: the rest is not played
  std::int64_t unfinished = 0;   // iterations without an end, which a kill cut off: nothing to play
};

// An error says that there is no journal, or why it cannot be played: it holds no events, or a recorded policy cannot be
// asked any more.
Result<ReplayResult> replay_run(const std::filesystem::path& run_folder);

}  // namespace allot::engine
