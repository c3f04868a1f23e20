#include "runtime/remote/swap_workers.h"

#include <utility>

#include <fmt/format.h>

namespace allot::remote {

// Tickets are given in the order of asking, so that of several requests the latest wins.
Result<int> SwapWorkers::begin(engine::SwapRequest request) {
  std::erase_if(workers_, [](const Worker& worker) { return worker.done.load(); });
  if (workers_.size() >= most) {
    return Error{fmt::format("{} swaps are under way, and no more are taken at once.", most),
                 "ask again when one is done"};
  }
  const int ticket = request.ticket = engine_.announce_swap();
  if (ticket == 0) {
    return Error{"What is served here is a client of another engine, and takes no swaps for it.",
                 "swap at that engine, or through a client of its own"};
  }
  Worker& worker = workers_.emplace_back();
  worker.thread = std::jthread([this, &worker, request = std::move(request)] {
    (void)engine_.swap(request);
    worker.done = true;
  });
  return ticket;
}

// The child of a fork has no such threads.
void SwapWorkers::finish() {
  if (process_ != ::getpid()) {
    for (Worker& worker : workers_) worker.thread.detach();
  }
  workers_.clear();
}

}  // namespace allot::remote
