// Means with bootstrap intervals (Efron 1979), reproducible: resampling is counter-based.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace allot::training {

struct Interval {
  double mean = 0;
  double low = 0;   // percentile bounds at the asked level
  double high = 0;
};

// The mean of `values` and its percentile bootstrap interval. Empty input gives zeros; one value gives itself thrice.
Interval bootstrap_mean(std::span<const double> values, double level = 0.95, int resamples = 2000,
                        std::uint64_t seed = 1);

// The mean of paired differences with two levels of resampling: rows (seeds) first, then entries (tasks) within each
// drawn row, so that both sources of variation are in the interval. rows[s][t] is one difference.
Interval bootstrap_rows(std::span<const std::vector<double>> rows, double level = 0.95, int resamples = 2000,
                        std::uint64_t seed = 1);

}  // namespace allot::training
