// What a gate that stops groups early did, against what would have become of them (allocation.md §3).
#pragma once

#include <optional>

namespace allot::statistics {

struct GateCounts {
  int groups = 0;
  int flat = 0;  // groups that end flat without the gate
  int stopped = 0;
  int stopped_flat = 0;  // stopped groups among them: right stops
  int turn = 0;          // after which the gate decides
  int turn_limit = 0;    // of a rollout
};

struct GateQuality {
  std::optional<double> precision;  // right stops / stops
  std::optional<double> recall;     // right stops / flat groups
  std::optional<double> saved;      // share of all turns that right stops save, if every rollout runs to the limit
  std::optional<double> saved_raw;  // the same over all stops
};
GateQuality gate_quality(const GateCounts& counts);

// Where the loss is a mean over the batch, dropping groups without a gradient scales it by this. Shares of the batch
// whose advantage is zero, without and with the gate, both below 1.
double gradient_dilution_gain(double zero_before, double zero_after);

}  // namespace allot::statistics
