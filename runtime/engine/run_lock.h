// A run folder belongs to one process at a time: two would overwrite each other's journal, state and checkpoints.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/result.h"

namespace allot::engine {

// Held until it goes, or its process ends, however. A child that was forked and runs no other program holds it too.
class RunLock {
 public:
  RunLock() = default;
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;

  // An error names the process that has the folder. `name` of the lock file tells apart what may be held at once. Where
  // the filesystem knows no locks, or nothing can be written, nobody is kept out.
  static Result<RunLock> take(const std::filesystem::path& run, const std::string& name);

  // Set in a child that was forked after take(): the folder is its parent's. Cheap enough for every event.
  std::optional<Error> of_parent() const;

 private:
  static constexpr int not_taken = -1;
  int file_ = -1;
  int forks_ = not_taken;  // as of take()
};

}  // namespace allot::engine
