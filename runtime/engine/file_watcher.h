// Notices that a policy file was saved, however an editor does that: over the file, beside it and renamed, deleted and
// made anew, or by another target of a symbolic link.
//
// Looks are cheap (one stat) and work on every filesystem. A text counts once it has stood still, so that an empty or
// half-written file is never taken; the same content is no change.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace allot::engine {

class FileWatcher {
 public:
  using Clock = std::chrono::steady_clock;
  // `known`: hash (SHA-256) of the last text that was taken up; without it, what stands in the file now is known already.
  explicit FileWatcher(std::filesystem::path file, std::chrono::milliseconds still = std::chrono::milliseconds(1000),
                       std::optional<std::string> known = std::nullopt);

  // The new text, once for each that comes.
  std::optional<std::string> look(Clock::time_point now = Clock::now());
  const std::filesystem::path& file() const { return file_; }
  const std::string& known() const { return known_; }

 private:
  struct Stamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = -1, seconds = 0, nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stamp() const;

  std::filesystem::path file_;
  std::chrono::milliseconds still_;
  Stamp seen_;                // as of the last look
  Clock::time_point since_;   // it has been like that
  bool settled_ = true;       // its text was read since
  std::string known_;         // hash of the last text that was given, or that stood there at first
};

}  // namespace allot::engine
