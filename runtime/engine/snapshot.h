// Everything an engine carries from one iteration to the next.
//
// It is taken at barriers only: an engine that is restored takes up with the next iteration, and what was in flight
// when the run ended is run again. There are two forms on disk: one self-checking text, and the files of
// runtime/engine/state_files.h, which repeat of a large memory only what has changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/journal_chain.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/ledger.h"
#include "runtime/engine/live_group.h"
#include "runtime/engine/pool.h"
#include "runtime/engine/state.h"
#include "runtime/engine/swaps.h"
#include "runtime/engine/tallies.h"

namespace allot::engine {

// All but what is remembered of prompts and categories.
struct SnapshotHead {
  std::string policy_hash;
  int iteration = -1;      // the last that ended; −1: none
  int next_group = 0;
  StateCells run_state;
  int epoch = 0;
  std::int64_t passed = 0;
  std::vector<const LiveGroup*> waiting;  // deferred groups
  std::vector<const LiveGroup*> stored;   // of the replay buffer
  std::set<int> of_canary;                // of `waiting`, those that the canary goes on deciding; by number
  std::vector<Account> accounts;
  Conservation conservation;
  bool ledger_begun = false;
  std::int64_t overruns = 0;
  std::int64_t holdout_observed = 0;
  std::int64_t holdout_flat = 0;
  bool paused = false;
  RunTallies run;
  SavedVersions versions;
  std::optional<JournalMark> journal;  // the end of the iteration; none without a run folder
};

// Groups change and a head is small, so it is a text at once.
struct HeadText {
  std::string policy_hash;
  std::string members;  // all others of a JSON object, with commas between
};
HeadText write(const SnapshotHead& head);

// Never changes, and holds no more than what has changed since.
struct Snapshot {
  std::shared_ptr<const HeadText> head;
  StateStore::Moment memory;
  Pool::Histories::Moment histories;
  int epoch = 0;
  // Where a swap came after the head: within an iteration memory is what it was at its start, and the policy is not.
  std::string swapped_to = {};

  const std::string& policy_hash() const { return swapped_to.empty() ? head->policy_hash : swapped_to; }
};

// What is read owns its groups.
struct ReadSnapshot : SnapshotHead {
  std::vector<std::unique_ptr<LiveGroup>> groups;  // what `waiting` and `stored` point to
  StateStore::Keyed prompts, categories;           // of a text
  struct Rows {
    StateRows prompts, categories;
  };
  std::optional<Rows> rows;                        // of files
  Pool::Histories histories;

  // Into the store of the policy; false where that has other states.
  [[nodiscard]] bool give_memory(StateStore& store);
};

// One text. The same memory gives the same text, whatever it went through.
std::string write(const Snapshot& snapshot);
// An error says that the text is damaged, or of a version this program does not know. Statistics of the groups' actions
// are rebuilt as `plan` says.
Result<ReadSnapshot> read_snapshot(const std::string& text, const StatisticsPlan& plan);

// ---- for the other form
inline constexpr std::string_view text_schema = "allot-state/3", files_schema = "allot-state/4";
// The sealed text of either form as JSON.
Result<nlohmann::json> read_sealed(const std::string& text);
// Throws what nlohmann throws where the JSON is of another form.
ReadSnapshot read_head(const nlohmann::json& json, const StatisticsPlan& plan);
// Without brackets.
void put_values(JsonText& text, std::span<const lang::Cell> cells);
void put_values(JsonText& text, std::span<const PromptHistory> histories);
std::vector<lang::Cell> read_row(const nlohmann::json& values, std::size_t begin, const lang::Cell* of);
std::vector<PromptHistory> read_row(const nlohmann::json& values, std::size_t begin, const PromptHistory* of);

// Which version was active; of either form.
Result<ActiveVersion> read_saved_version(const std::string& text);
// On which end of an iteration it stands; none where it names none or is damaged.
std::optional<JournalMark> read_saved_mark(const std::string& text);

}  // namespace allot::engine
