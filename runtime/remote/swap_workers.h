// Swaps that clients asked for, each on a thread of its own: the server's thread waits for none of them, and what has
// begun is carried out whatever becomes of who asked.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <list>
#include <thread>

#include "common/result.h"
#include "runtime/engine/engine.h"

namespace allot::remote {

class SwapWorkers {
 public:
  static constexpr std::size_t most = 16;  // at once

  // `engine` must outlive it.
  explicit SwapWorkers(engine::Engine& engine) : engine_(engine) {}
  ~SwapWorkers() { finish(); }
  SwapWorkers(const SwapWorkers&) = delete;
  SwapWorkers& operator=(const SwapWorkers&) = delete;

  // The ticket by which Engine::swap_outcome() tells what came of it. An error: too many are under way, or
  // this engine gives none ahead, as a client does.
  Result<int> begin(engine::SwapRequest request);
  // Waits for those that are under way.
  void finish();

 private:
  struct Worker {
    std::atomic<bool> done = false;
    std::jthread thread;
  };

  engine::Engine& engine_;
  const pid_t process_ = ::getpid();
  std::list<Worker> workers_;
};

}  // namespace allot::remote
