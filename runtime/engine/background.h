// One thread that works behind the engine's back, one task at a time: a barrier must not wait for the disk, nor for the
// birth of a thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "common/result.h"

namespace allot::engine {

class Background {
 public:
  using Task = std::function<std::optional<Error>()>;

  Background();
  ~Background();  // waits for the task under way
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Waits for the task before, and begins `task`. The error, if any, is the earlier task's; then `task` is not begun.
  std::optional<Error> begin(Task task);
  // Waits for the task under way; what went wrong is told once.
  std::optional<Error> wait();

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Task task_;  // under way while it is set
  std::optional<Error> failed_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace allot::engine
