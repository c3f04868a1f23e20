// Every decision of a run, asked once more from what it had read, and the journal's own integrity.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace allot::engine {

// A decision that the policy, asked the recorded question, does not give again.
struct Difference {
  std::string place;      // "journal/000001.jsonl:17"
  int iteration = 0;
  int group = -1;         // −1: of the batch
  int sample = -1;
  int turn = 0;
  std::string point = {};      // "on turn 2 of group g"
  std::string policy = {};     // hash of the version that decided
  std::string member = {};     // of the record: "verdict", "holes", …
  std::string recorded = {};   // JSON; "nothing" where it is not there
  std::string again = {};
};

struct AuditResult {
  std::int64_t audited = 0;
  std::int64_t differing = 0;
  std::int64_t iterations = 0;           // ended; ones that were run again count again
  std::int64_t versions = 0;             // of the policy that decided, by their numbers
  // Tokens that were asked their loss, and in how many iterations: the journal counts them, so they are not asked again.
  std::int64_t loss_tokens = 0;
  std::int64_t loss_iterations = 0;
  std::int64_t unsummed = 0;             // lines after the last end of an iteration, which no sum covers
  std::int64_t unchained = 0;            // resumes of older programs, whose sums do not cover what was before
  std::optional<Difference> first;
  // Lines whose checksum does not fit, stretches whose sum does not, segments that are missing or not in their place, ends
  // of iterations that a saved state, or whoever kept their sums, knows of and that are not there.
  std::vector<std::string> damage;
  int cut_lines = 0;                     // last lines that a kill cut off; no damage
  std::string sum;                       // of all lines up to the last end of an iteration, and with it
  std::string from;                      // where the run went on from another folder's: the sum of the end it stood on
  int states = 0;                        // saved states beside the journal that name an end of it

  bool good() const { return differing == 0 && damage.empty(); }
};

// `kept`: sums that were told of this run earlier. An error says that there is no journal, that it has a form this program does not know, or that a recorded policy
// cannot be asked any more.
Result<AuditResult> audit_run(const std::filesystem::path& run_folder, const std::vector<std::string>& kept = {});

}  // namespace allot::engine
