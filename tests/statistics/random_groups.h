// Random sequences for property tests, repeatable from one number.
#pragma once

#include <vector>

#include "runtime/math/random.h"
#include "runtime/statistics/symbol.h"

namespace allot::statistics {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  // 0 … sides − 1
  int roll(int sides) { return static_cast<int>(math::below(static_cast<std::uint64_t>(sides), seed_, 0, count_++)); }

  // Actions are mostly those of a common plan, so that distances of every size occur.
  std::vector<Symbol> actions(int length, int alphabet) {
    std::vector<Symbol> result;
    for (int i = 0; i < length; ++i) {
      const bool follows = roll(3) > 0;
      result.push_back(2 + (follows ? i % alphabet : roll(alphabet)));
    }
    return result;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace allot::statistics
