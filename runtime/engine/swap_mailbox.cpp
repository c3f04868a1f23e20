#include "runtime/engine/swap_mailbox.h"

#include <algorithm>
#include <utility>

namespace allot::engine {

void SwapMailbox::publish(ActivePolicy active) {
  auto next = std::make_shared<const ActivePolicy>(std::move(active));
  const std::lock_guard lock(mutex_);
  active_.swap(next);  // what was active goes without the lock
}

std::shared_ptr<const ActivePolicy> SwapMailbox::active() const {
  const std::lock_guard lock(mutex_);
  return active_;
}

int SwapMailbox::announce() { return enter(0); }

int SwapMailbox::enter(int ticket) {
  const std::lock_guard lock(mutex_);
  if (ticket <= 0) ticket = next_ticket_++;
  in_flight_.insert(ticket);
  return ticket;
}

void SwapMailbox::wait_for_later(int ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return in_flight_.upper_bound(ticket) == in_flight_.end(); });
}

void SwapMailbox::leave(int ticket) {
  {
    const std::lock_guard lock(mutex_);
    in_flight_.erase(ticket);
  }
  changed_.notify_all();
}

void SwapMailbox::post(PostedSwap& swap) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(&swap);
  waits_.store(true, std::memory_order_relaxed);
}

std::vector<PostedSwap*> SwapMailbox::take(const std::function<bool(const PostedSwap&)>& goes) {
  const std::lock_guard lock(mutex_);
  const auto rest = std::stable_partition(posted_.begin(), posted_.end(), [&](const PostedSwap* swap) { return !goes(*swap); });
  const std::vector<PostedSwap*> taken(rest, posted_.end());
  posted_.erase(rest, posted_.end());
  waits_.store(!posted_.empty(), std::memory_order_relaxed);
  return taken;
}

void SwapMailbox::finish(PostedSwap& swap) {
  const std::lock_guard lock(mutex_);
  swap.done = true;
}

bool SwapMailbox::finished(const PostedSwap& swap, std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return swap.done; });
}

void SwapMailbox::tell(const SwapReport& report) {
  const std::lock_guard lock(mutex_);
  if (told_.size() >= most_told && !told_.contains(report.ticket)) told_.erase(told_.begin());
  told_[report.ticket] = report;
}

SwapReport SwapMailbox::outcome(int ticket) const {
  const std::lock_guard lock(mutex_);
  const auto told = told_.find(ticket);
  return told == told_.end() ? SwapReport{} : told->second;
}

}  // namespace allot::engine
