#include "runtime/remote/call_lock.h"

#include "runtime/remote/waits.h"

namespace allot::remote {

CallLock::Hold::Hold(CallLock& lock, const std::function<void()>& between) : lock_(lock) {
  std::unique_lock look(lock_.mutex_);
  nested_ = lock_.holder_ == std::this_thread::get_id();
  if (nested_) return;
  while (!lock_.free_.wait_for(look, slice, [&] { return lock_.holder_ == std::thread::id(); })) {
    look.unlock();
    between();
    look.lock();
  }
  lock_.holder_ = std::this_thread::get_id();
}

CallLock::Hold::~Hold() {
  if (nested_) return;
  const std::lock_guard look(lock_.mutex_);
  lock_.holder_ = std::thread::id();
  lock_.free_.notify_one();
}

}  // namespace allot::remote
