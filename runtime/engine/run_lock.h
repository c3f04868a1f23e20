// A run folder belongs to one process at a time: two would overwrite each other's journal, state and checkpoints.
#pragma once

#include <sys/types.h>

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

  // The folder was moved or removed since take(), or another one took its place: what is opened by its path goes elsewhere.
  bool has_moved() const;

 private:
  struct Place {
    std::filesystem::path path;
    dev_t device = 0;
    ino_t number = 0;
  };
  static constexpr int not_taken = -1;
  int file_ = -1;
  int forks_ = not_taken;       // as of take()
  std::optional<Place> place_;  // the same; none where the folder could not be looked at
};

}  // namespace allot::engine
