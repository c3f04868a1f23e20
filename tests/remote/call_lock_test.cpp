// Who calls while others call: other threads wait and look around, the same thread is told.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/remote/call_lock.h"

using allot::remote::CallLock;

namespace {

void nothing() {}

// Another thread has the lock, until release() at the latest.
class HeldElsewhere {
 public:
  explicit HeldElsewhere(CallLock& lock)
      : thread_([this, &lock] {
          const CallLock::Hold hold(lock, nothing);
          held_ = true;
          while (!over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }) {
    while (!held_) std::this_thread::yield();
  }
  ~HeldElsewhere() { release(); }
  HeldElsewhere(const HeldElsewhere&) = delete;
  HeldElsewhere& operator=(const HeldElsewhere&) = delete;
  void release() { over_ = true; }

 private:
  std::atomic<bool> held_ = false, over_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

TEST_CASE("a hold below a hold of the same thread is none, and takes nothing with it") {
  CallLock lock;
  {
    const CallLock::Hold first(lock, nothing);
    CHECK_FALSE(first.nested());
    for (int i = 0; i < 2; ++i) CHECK(CallLock::Hold(lock, nothing).nested());
  }
  CHECK_FALSE(CallLock::Hold(lock, nothing).nested());
}

TEST_CASE("whoever waits for a hold looks around every 50 ms, and what that throws ends the wait") {
  struct Enough {};
  CallLock lock;
  HeldElsewhere other(lock);
  int looks = 0;
  const auto look = [&] {
    if (++looks == 3) throw Enough();
  };
  const auto began = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(CallLock::Hold(lock, look), Enough);
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(150));
  other.release();
  CHECK_FALSE(CallLock::Hold(lock, nothing).nested());
}

TEST_CASE("one thread holds at a time") {
  CallLock lock;
  int held = 0;  // a counter that is no atomic: without the lock some of the steps were lost
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) {
          const CallLock::Hold hold(lock, nothing);
          ++held;
        }
      });
    }
  }
  CHECK(held == 40'000);
}

// 7 is what the child ends with; without a lock of its own it waits, and the alarm ends it.
TEST_CASE("the child of a fork does not wait for a thread of its parent") {
  CallLock lock;
  HeldElsewhere other(lock);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    const bool nested = CallLock::Hold(lock, nothing).nested();
    ::_exit(nested ? 1 : 7);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  other.release();
}
