// Values against a baseline of their own set: the arithmetic behind group advantages. Scored values only; RewardSummary
// leaves the others out.
#pragma once

#include <span>
#include <vector>

namespace allot::statistics {

// value − mean.
std::vector<double> centered(std::span<const double> values);

// (value − mean) / (deviation(ddof) + epsilon), ddof 0 or 1, epsilon >= 0. All 0 where the deviation is 0: so for equal
// values and for a single one.
std::vector<double> standardized(std::span<const double> values, int ddof, double epsilon);

// value − mean of the others; 0 for a single one.
std::vector<double> less_mean_of_others(std::span<const double> values);

// Σ value · mask / (Σ mask + epsilon): with epsilon > 0 an empty mask gives 0. Both spans have one length.
double masked_mean(std::span<const double> values, std::span<const double> mask, double epsilon);

}  // namespace allot::statistics
