// Judges of one policy for questions that are asked side by side: each has buffers and counts of its own.
//
// A thread mostly gets the one that it had before, so that buffers stay in its cache and threads do not meet here.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/engine/judge.h"

namespace allot::engine {

class Judges {
 public:
  Judges() = default;
  ~Judges();
  Judges(const Judges&) = delete;
  Judges& operator=(const Judges&) = delete;

  // Nobody else has it until it is given back.
  std::unique_ptr<Judge> take(const std::shared_ptr<Policy>& policy, int version);
  void give_back(std::unique_ptr<Judge> judge);

  // While none is taken.
  void add_to(JudgeCounts& counts) const;
  void reset_counts();

 private:
  // Owned, or null.
  struct alignas(64) Stripe {
    std::atomic<Judge*> judge = nullptr;
  };
  Stripe& own_stripe();
  std::vector<Judge*> all() const;

  std::array<Stripe, 16> stripes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Judge>> more_;  // of threads with the same stripe
};

}  // namespace allot::engine
