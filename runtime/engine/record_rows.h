// The records of a run, each as one flat row: what `allot log` shows, filters, exports and is asked by SQL.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/result.h"
#include "runtime/engine/records.h"

namespace allot::engine {

// Numbers that do not apply are −1, words empty.
struct RecordRow {
  std::string kind;       // "decision", or that of the record: open, start, close, defer, take_up, replay, evict, note, end, …
  int iteration = -1;
  int group = -1;
  int sample = -1;
  int turn = -1;
  std::string prompt;     // of the group, or the one that is evicted
  std::string point;      // "turn 2 of group g"
  int version = -1;       // that decided, that came or that a group went over to; counts from 0
  std::string policy;     // hash of the version that decided
  std::string rule;       // "file:line"
  std::string verdict;
  std::string carried;    // out, shadow, held out, late
  std::string reason;
  std::string fault;      // "KIND at file:line"
  std::string fate;       // of `close`
  bool changed = true;    // false: a decision that leaves everything as it is
  nlohmann::ordered_json reads = nlohmann::ordered_json::object();  // by the names of facts
  nlohmann::ordered_json record;  // as it was written, without its checksum
};

// Every kind that a row may have, in alphabetical order.
const std::vector<std::string>& row_kinds();

class RowMaker {
 public:
  using Use = std::function<void(const RecordRow&)>;
  explicit RowMaker(Use use);
  RowMaker(const RowMaker&) = delete;
  RowMaker& operator=(const RowMaker&) = delete;

  RecordReader& reader() { return reader_; }

 private:
  void answer(const Answered& answered, const RecordedPolicy& policy);
  void other(const nlohmann::ordered_json& record);
  void read_version(const nlohmann::ordered_json& record, RecordRow& row);

  Use use_;
  std::map<int, std::string> prompts_;  // by group
  std::map<int, std::string> hashes_;   // by the number of the version
  RecordReader reader_;
};

Result<JournalProblems> read_rows(const std::filesystem::path& run_folder, const RowMaker::Use& use);

// All that is said must hold.
struct RowFilter {
  std::optional<std::pair<int, int>> iterations;  // both ends included
  std::optional<int> group;
  std::optional<std::string> prompt;
  std::optional<std::string> kind;
  std::optional<std::string> version;  // its number, or the first eight or more digits of its hash
  std::optional<std::string> rule;  // "file:line", or its end: "12" is line 12 of any file

  bool accepts(const RecordRow& row) const;
  bool has_iteration(int iteration) const;
};

}  // namespace allot::engine
