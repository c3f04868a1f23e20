// The journal on disk: segments of checksummed lines that are only ever appended to.
//
// Lines are gathered in memory and written at barriers, so a run that is killed loses the iteration in flight and
// nothing before it; a line that was cut off by the kill is recognised and left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/background.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/disk.h"

namespace allot::engine {

class JournalWriter {
 public:
  // Begins a new segment in `folder`, after the ones that are there: `000001.jsonl`, … Its lines continue their chain.
  static Result<JournalWriter> open(const std::filesystem::path& folder);
  ~JournalWriter();
  JournalWriter(JournalWriter&& other) noexcept;
  JournalWriter& operator=(JournalWriter&& other) noexcept;

  // `record` is the text of one JSON object.
  void append(std::string record);
  // Of all lines of the journal so far, for the line that comes next.
  std::string sum() { return chain_.sum(); }
  std::string sum_so_far() const { return chain_.sum_so_far(); }
  int segment() const { return segment_; }  // to which the next line goes
  // All lines so far are written when this returns, so that the end of the process loses none; what the barrier before
  // wrote is on disk. The wait for the disk goes on in the background: a loss of power can take one barrier's lines. A
  // full disk is an error; the lines stay in memory and are tried again at the next barrier. `beside` is done in the
  // background too, once the lines are on disk: after the end of the process it may be one barrier behind them.
  Result<void> barrier(Background::Task beside = {});
  Result<void> settle();  // waits for the work in the background, and tells what went wrong there
  // Why the lines of the last barrier could not be written, if they could not.
  const std::optional<Error>& unwritten() const { return unwritten_; }

 private:
  JournalWriter(std::filesystem::path folder, int segment) : folder_(std::move(folder)), segment_(segment) {}
  Result<void> open_segment();
  void close();

  std::filesystem::path folder_;
  int segment_ = 0;
  int file_ = -1;
  std::uint64_t written_ = 0;  // bytes of this segment that are known to be good
  std::string buffer_;
  LineChain chain_;
  std::optional<Error> unwritten_;
  std::unique_ptr<Background> behind_;  // syncs and replaces
};

// The segments of a journal in order; none where the folder is missing.
std::vector<std::filesystem::path> segments(const std::filesystem::path& folder);

struct JournalProblems {
  std::vector<std::string> damaged;  // "journal/000001.jsonl:17: …", one a line
  int cut_lines = 0;                 // last lines of segments that end in the middle
};

// A good record, with its place.
struct JournalLine {
  const std::filesystem::path& file;
  std::int64_t number = 0;  // from 1
  std::string_view text;
  const nlohmann::ordered_json& record;
  std::string place() const;  // "journal/000001.jsonl:17"
};

// Calls `use` for every good record in order. An error says that there is no journal, or that it cannot be read.
Result<JournalProblems> read_lines(const std::filesystem::path& folder,
                                   const std::function<void(const JournalLine&)>& use);
Result<JournalProblems> read_journal(const std::filesystem::path& folder,
                                     const std::function<void(const nlohmann::ordered_json&)>& use);

}  // namespace allot::engine
