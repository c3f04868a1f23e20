// One call of a client at a time, whichever thread it comes from. The child of a fork has a lock of its own, which is
// free: who held the parent's is not there.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace allot::remote {

class CallLock {
  struct State;

 public:
  // For as long as it lives, no other thread has one.
  class Hold {
   public:
    // Waits while another thread has one. `between` is called every 50 ms meanwhile; what it throws ends the wait.
    Hold(CallLock& lock, const std::function<void()>& between);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    // This thread has one already, as the call that waits has below a signal's handler. Then this one is none.
    bool nested() const { return nested_; }

   private:
    State& state_;
    bool nested_ = false;
  };

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable free;
    std::thread::id holder;  // of no thread: free
  };

  State& state();

  std::unique_ptr<State> state_ = std::make_unique<State>();
  std::atomic<pid_t> process_ = ::getpid();  // whose state it is; below 0: that process is making it
};

}  // namespace allot::remote
