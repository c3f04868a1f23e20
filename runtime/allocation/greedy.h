// Exact allotment of whole units under concave utilities: give the next unit where it adds most (Fox 1966).
//
// Equal gains (in grains) go to the lower item. A gain that is not above 0 is not taken, so units may be left. An
// item's gains are taken to fall: one that rises in its last bits counts as the one before it, so the answer is that
// of sorting all gains. The largest of the remaining gains stands at the root of a tournament: O(log items) a unit.
#pragma once

#include "runtime/allocation/share.h"

namespace allot::allocation {

class Greedy {
 public:
  // `winners` has as many elements as `shares`. Σ low <= budget.
  Greedy(std::span<Share> shares, std::span<std::int32_t> winners, std::int64_t budget) noexcept;

  // False: the counts of the shares are the answer, their values the utilities.
  bool ask(Question& question) noexcept;
  void tell(double value) noexcept;
  std::int64_t left() const noexcept { return left_; }

 private:
  bool better(std::int32_t a, std::int32_t b) const noexcept;
  std::int32_t contender(std::size_t node) const noexcept;
  void play(std::size_t item) noexcept;
  void start() noexcept;
  bool ask_first(Question& question) noexcept;

  std::span<Share> shares_;
  std::span<std::int32_t> winners_;
  std::int64_t left_ = 0;
  std::size_t first_ = 0;      // twice the item whose first two values are asked, plus one for the second
  std::size_t asked_ = 0;      // the item asked last
  bool started_ = false;
  double largest_ = 0;
  double grain_ = 0;
};

}  // namespace allot::allocation
