// The way in for swaps, beside the engine's lock.
//
// A lock that many threads want again and again is rarely had by one that comes seldom (a mutex promises no turns). So
// who asks for a swap takes what it needs from here, prepares all of it, and posts it; whoever holds the engine's lock
// next (alone, or of what opens and closes groups) carries it out between two events.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "common/result.h"
#include "runtime/engine/swap.h"
#include "runtime/engine/swaps.h"

namespace allot::engine {

struct PostedSwap {
  const SwapRequest& request;
  Result<PreparedSwap> prepared;  // an error: why it is refused
  SwapReport report;
  std::chrono::steady_clock::time_point asked;
  bool done = false;              // `report` tells what came of it; under the mailbox's lock
};

class SwapMailbox {
 public:
  // ---- what is active
  void publish(ActivePolicy active);
  std::shared_ptr<const ActivePolicy> active() const;

  // ---- places among the requests
  int announce();
  // The request is under way. 0: it takes a place, which is given back.
  int enter(int ticket);
  // A later request that is under way goes first: it wins, unless it is refused.
  void wait_for_later(int ticket);
  void leave(int ticket);

  // ---- the way in. `swap` must live until it is done.
  void post(PostedSwap& swap);
  // Asked at every event that does more than pass.
  bool waits() const { return waits_.load(std::memory_order_relaxed); }
  // Those that go now; the others stay.
  std::vector<PostedSwap*> take(const std::function<bool(const PostedSwap&)>& goes);
  void finish(PostedSwap& swap);
  // Who waits for one that is finished, or else for a while. After the engine's lock: who is woken may take this core.
  void wake() { changed_.notify_all(); }
  // Waits so long at most.
  bool finished(const PostedSwap& swap, std::chrono::microseconds patience);

  // ---- what came of them, the latest
  void tell(const SwapReport& report);
  SwapReport outcome(int ticket) const;  // without a ticket where nothing is known

 private:
  static constexpr std::size_t most_told = 64;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const ActivePolicy> active_ = std::make_shared<const ActivePolicy>();
  int next_ticket_ = 1;
  std::set<int> in_flight_;
  std::vector<PostedSwap*> posted_;
  std::atomic<bool> waits_ = false;
  std::map<int, SwapReport> told_;
};

}  // namespace allot::engine
