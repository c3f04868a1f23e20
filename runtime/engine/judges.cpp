#include "runtime/engine/judges.h"

#include <utility>

namespace allot::engine {

std::unique_ptr<Judge> Judges::take(const std::shared_ptr<Policy>& policy, int version) {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto judge = std::move(free_.back());
      free_.pop_back();
      return judge;
    }
  }
  return std::make_unique<Judge>(policy, version);
}

void Judges::give_back(std::unique_ptr<Judge> judge) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(judge));
}

void Judges::add_to(JudgeCounts& counts) const {
  for (const auto& judge : free_) counts.add(judge->counts());
}

void Judges::reset_counts() {
  for (const auto& judge : free_) judge->reset_counts();
}

}  // namespace allot::engine
