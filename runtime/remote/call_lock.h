// One call of a client at a time, whichever thread it comes from.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace allot::remote {

class CallLock {
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
    CallLock& lock_;
    bool nested_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  std::thread::id holder_;  // of no thread: free
};

}  // namespace allot::remote
