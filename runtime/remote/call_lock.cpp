#include "runtime/remote/call_lock.h"

#include "runtime/remote/waits.h"

namespace allot::remote {

// Several threads of the child may be the first.
CallLock::State& CallLock::state() {
  const pid_t here = ::getpid();
  for (pid_t whose = process_; whose != here; whose = process_) {
    if (whose == -here) {
      std::this_thread::yield();
    } else if (process_.compare_exchange_strong(whose, -here)) {
      (void)state_.release();  // for ever: what somebody holds or waits for cannot be destroyed
      state_ = std::make_unique<State>();
      process_ = here;
    }
  }
  return *state_;
}

CallLock::Hold::Hold(CallLock& lock, const std::function<void()>& between) : state_(lock.state()) {
  std::unique_lock look(state_.mutex);
  nested_ = state_.holder == std::this_thread::get_id();
  if (nested_) return;
  while (!state_.free.wait_for(look, slice, [&] { return state_.holder == std::thread::id(); })) {
    look.unlock();
    between();
    look.lock();
  }
  state_.holder = std::this_thread::get_id();
}

CallLock::Hold::~Hold() {
  if (nested_) return;
  const std::lock_guard look(state_.mutex);
  state_.holder = std::thread::id();
  state_.free.notify_one();
}

}  // namespace allot::remote
