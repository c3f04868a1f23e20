// One at a time changes a project: its allot.toml, allot.lock and what is installed belong together.
#pragma once

#include <filesystem>
#include <functional>
#include <utility>

namespace allot::package {

class ProjectLock {
 public:
  // Waits until nobody else has it, and calls `waits` before it does. A filesystem that knows no locks has none.
  ProjectLock(const std::filesystem::path& root, const std::function<void()>& waits);
  ~ProjectLock();
  ProjectLock(ProjectLock&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  ProjectLock& operator=(ProjectLock&&) = delete;

 private:
  int folder_ = -1;  // the lock goes with it, also where the process ends otherwise
};

}  // namespace allot::package
