// One chain of sums over all lines of a journal, from its first segment to its last.
//
// A line that ends an iteration (`end`) and the first line of a process (`run`) tell the sum of all lines before them; see
// LineChain. So whoever changes a line must change all that come after it, the sum that is acknowledged included. Lines
// that are damaged or cut off are none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"

namespace allot::engine {

inline constexpr std::string_view journal_schema = "journal/4";

// The end of an iteration, as a saved state names it.
struct JournalMark {
  int segment = 0;  // in which it stands
  std::string sum;  // of all lines up to it, and with it
};

struct ToldSum {
  std::string sum;
  bool anew = false;  // a `run` of an older program: its chain does not know what was before
};
// What a record tells of the lines before it; most tell nothing.
std::optional<ToldSum> told_sum(const nlohmann::ordered_json& record);

// The sum of all lines up to this good line `end`, and with it: what a state that stands on it names.
std::string sum_with(std::string_view end);

// The sum of all lines of a journal that are there; empty where there are none.
Result<std::string> journal_sum(const std::filesystem::path& folder);

// Whether an iteration has ended in this journal.
bool has_an_end(const std::filesystem::path& folder);

// What is wrong with the names of the segments: a number that is missing, a file that has none; one a line.
std::vector<std::string> missing_segments(const std::filesystem::path& folder);

// That a journal holds the end that `mark` names, or began where another journal had it. `who`: what stands on it.
Result<void> check_mark(const std::filesystem::path& folder, const JournalMark& mark, std::string_view who);

// The iterations that ended after the end that `mark` names, in order: who goes on from that one decides them again. None
// where this journal does not hold it.
std::vector<int> ended_beyond(const std::filesystem::path& folder, const JournalMark& mark);
// "iteration 7 had ended, and runs again"
std::string again_words(const std::vector<int>& iterations);

// The states that are saved in a run folder and the ends on which they stand. What is damaged or old names none.
struct Acknowledged {
  std::string file;  // "state.json"
  JournalMark mark;
};
std::vector<Acknowledged> acknowledged(const std::filesystem::path& run);

// That the journal of a run may be gone on with: no segment is missing, and what was acknowledged is there.
Result<void> check_journal(const std::filesystem::path& run);

}  // namespace allot::engine
