// An action, an observation or a token as one comparable number, and sequences of them.
#pragma once

#include <cstdint>
#include <span>

namespace allot::statistics {

using Symbol = std::int32_t;

// Stands for every turn after a rollout's last; no action is ever equal to it.
inline constexpr Symbol end_symbol = 0;
// What the world could not parse: one symbol, whatever the text was.
inline constexpr Symbol invalid_symbol = 1;

// The actions of one rollout so far. A rollout that ended takes no further turn; a live one may.
struct RolloutActions {
  std::span<const Symbol> actions;
  bool ended = true;
};
using GroupActions = std::span<const RolloutActions>;

// Padded: a rollout that ended before turn K has END there, and K is the divisor. Unpadded: its prefix is shorter, and
// the longer prefix of the two is the divisor.
enum class Padding : std::uint8_t { Padded, Unpadded };
enum class Scale : std::uint8_t { Raw, Normalized };

// Over the unordered pairs of a group.
struct PairSummary {
  double mean = 0;
  double min = 0;
  double max = 0;
  friend bool operator==(const PairSummary&, const PairSummary&) = default;
};

}  // namespace allot::statistics
