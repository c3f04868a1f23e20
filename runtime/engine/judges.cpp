#include "runtime/engine/judges.h"

#include <utility>

#include "common/thread_number.h"

namespace allot::engine {

Judges::~Judges() {
  for (Stripe& stripe : stripes_) const std::unique_ptr<Judge> goes(stripe.judge.load());
}

Judges::Stripe& Judges::own_stripe() { return stripes_[thread_number() % stripes_.size()]; }

std::unique_ptr<Judge> Judges::take(const std::shared_ptr<Policy>& policy, int version) {
  if (Judge* const own = own_stripe().judge.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Judge>(own);
  {
    const std::lock_guard lock(mutex_);
    if (!more_.empty()) {
      auto judge = std::move(more_.back());
      more_.pop_back();
      return judge;
    }
  }
  return std::make_unique<Judge>(policy, version);
}

void Judges::give_back(std::unique_ptr<Judge> judge) {
  Judge* empty = nullptr;
  if (own_stripe().judge.compare_exchange_strong(empty, judge.get(), std::memory_order_release, std::memory_order_relaxed)) {
    (void)judge.release();
    return;
  }
  const std::lock_guard lock(mutex_);
  more_.push_back(std::move(judge));
}

std::vector<Judge*> Judges::all() const {
  std::vector<Judge*> judges;
  for (const Stripe& stripe : stripes_) {
    if (Judge* const judge = stripe.judge.load(std::memory_order_acquire)) judges.push_back(judge);
  }
  for (const auto& judge : more_) judges.push_back(judge.get());
  return judges;
}

void Judges::add_to(JudgeCounts& counts) const {
  for (const Judge* const judge : all()) counts.add(judge->counts());
}

void Judges::reset_counts() {
  for (Judge* const judge : all()) judge->reset_counts();
}

}  // namespace allot::engine
