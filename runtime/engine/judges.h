// Judges of one policy for questions that are asked side by side: each has buffers and counts of its own. There are as many
// as were ever needed at once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/engine/judge.h"

namespace allot::engine {

class Judges {
 public:
  // Nobody else has it until it is given back.
  std::unique_ptr<Judge> take(const std::shared_ptr<Policy>& policy, int version);
  void give_back(std::unique_ptr<Judge> judge);

  // While none is taken.
  void add_to(JudgeCounts& counts) const;
  void reset_counts();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Judge>> free_;
};

}  // namespace allot::engine
