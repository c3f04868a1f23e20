// The engine's lock: many at once or one alone, and nobody is kept out for ever.
#include <atomic>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "common/striped_mutex.h"

using allot::StripedMutex;

TEST_CASE("striped mutex: those who share it are inside together") {
  StripedMutex mutex;
  const std::shared_lock one(mutex);
  std::async(std::launch::async, [&] { const std::shared_lock other(mutex); }).get();  // would wait for ever
}

TEST_CASE("striped mutex: who has it alone meets nobody, and whoever comes gets it") {
  StripedMutex mutex;
  // Written alone, read shared: no atomics, so that a sanitizer of threads sees what the mutex orders.
  int first = 0, second = 0;
  std::atomic<int> torn = 0, begun = 0;
  std::atomic<bool> stop = false;
  constexpr int readers = 20, writers = 2, turns = 2000;  // more readers than stripes
  const auto read = [&] {
    const std::shared_lock lock(mutex);
    torn += first != second;
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < readers; ++i) {
      threads.emplace_back([&] {
        ++begun;
        while (!stop) read();
      });
    }
    while (begun < readers) std::this_thread::yield();
    // Readers overlap all the time, and still each of these gets it alone.
    std::vector<std::jthread> alone;
    for (int i = 0; i < writers; ++i) {
      alone.emplace_back([&] {
        for (int turn = 0; turn < turns; ++turn) {
          const std::lock_guard lock(mutex);
          ++first;
          ++second;
        }
      });
    }
    alone.clear();
    stop = true;
  }
  CHECK(torn == 0);
  CHECK(first == writers * turns);
  CHECK(second == writers * turns);
  // The other way round: two that want it alone all the time do not keep out who shares it.
  stop = false;
  std::vector<std::jthread> greedy;
  for (int i = 0; i < writers; ++i) {
    greedy.emplace_back([&] {
      while (!stop) {
        const std::lock_guard lock(mutex);
        ++first;
        ++second;
      }
    });
  }
  for (int turn = 0; turn < 200; ++turn) read();
  stop = true;
  greedy.clear();
  CHECK(torn == 0);
}

TEST_CASE("striped mutex: a try fails where another has it alone, and waits for those who share it") {
  StripedMutex mutex;
  const auto tried_elsewhere = [&] {
    return std::async(std::launch::async, [&] {
      const bool got = mutex.try_lock();
      if (got) mutex.unlock();
      return got;
    });
  };
  mutex.lock();
  CHECK_FALSE(tried_elsewhere().get());
  mutex.unlock();
  CHECK(tried_elsewhere().get());
  mutex.lock_shared();
  auto tried = tried_elsewhere();
  CHECK(tried.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  mutex.unlock_shared();
  CHECK(tried.get());
}
