#include "runtime/engine/background.h"

#include <utility>

#include "common/background_thread.h"

namespace allot::engine {

Background::Background() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

Background::~Background() { (void)wait(); }

std::optional<Error> Background::begin(Task task) {
  if (auto error = wait()) return error;
  {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
  }
  changed_.notify_all();
  return std::nullopt;
}

std::optional<Error> Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !task_; });
  return std::exchange(failed_, std::nullopt);
}

void Background::work(const std::stop_token& stop) {
  yield_to_deciding_threads();
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return static_cast<bool>(task_); })) {
    lock.unlock();
    auto failed = task_();
    lock.lock();
    failed_ = std::move(failed);
    task_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace allot::engine
