// A mutex that many threads hold at once (`lock_shared`) or one alone (`lock`).
//
// Who shares it touches a cache line of its own and no other, so that sharing costs what a mutex of one's own would:
// std::shared_mutex counts everybody in one place, and lets those who share it keep out who wants it alone for ever. Here
// who wants it alone closes it first: nobody comes in any more, and it waits for those inside to leave (a "big-reader
// lock"; Corbet, "Big reader locks", LWN 2010; the order of flag and count is Dekker's).
//
// Works with std::unique_lock and std::shared_lock. A thread that shares it must not ask for it again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "common/thread_number.h"

namespace allot {

class StripedMutex {
 public:
  void lock() {
    line_.lock();
    close();
  }
  // Fails where another has it alone, or is about to; else waits for those who share it.
  bool try_lock() {
    if (!line_.try_lock()) return false;
    close();
    return true;
  }
  void unlock() {
    closed_.store(false, std::memory_order_release);
    line_.unlock();
  }

  void lock_shared() {
    std::atomic<int>& inside = own();
    inside.fetch_add(1);
    if (!closed_.load()) return;
    leave(inside);
    // Who stands in the line comes in at its turn, however many want it alone.
    const std::lock_guard turn(line_);
    inside.fetch_add(1);
  }
  void unlock_shared() { leave(own()); }

 private:
  static constexpr std::size_t stripes = 16;
  struct alignas(64) Stripe {
    std::atomic<int> inside = 0;
  };

  // Two threads that have the same one are still counted rightly.
  std::atomic<int>& own() { return stripes_[thread_number() % stripes].inside; }

  void leave(std::atomic<int>& inside) {
    inside.fetch_sub(1);
    if (closed_.load()) inside.notify_all();
  }

  void close() {
    closed_.store(true);
    for (Stripe& stripe : stripes_) {
      for (int count = stripe.inside.load(); count != 0; count = stripe.inside.load()) stripe.inside.wait(count);
    }
  }

  std::array<Stripe, stripes> stripes_;
  alignas(64) std::atomic<bool> closed_ = false;
  std::mutex line_;
};

}  // namespace allot
