#include "runtime/statistics/gate.h"

namespace allot::statistics {
namespace {

std::optional<double> share(int part, int whole) {
  return whole == 0 ? std::nullopt : std::optional(part / static_cast<double>(whole));
}

}  // namespace

GateQuality gate_quality(const GateCounts& counts) {
  const int turns_left = counts.turn_limit - counts.turn;
  const int all_turns = counts.groups * counts.turn_limit;
  return {share(counts.stopped_flat, counts.stopped), share(counts.stopped_flat, counts.flat),
          share(counts.stopped_flat * turns_left, all_turns), share(counts.stopped * turns_left, all_turns)};
}

double gradient_dilution_gain(double zero_before, double zero_after) {
  return (1.0 - zero_after) / (1.0 - zero_before);
}

}  // namespace allot::statistics
