#include "runtime/statistics/baseline.h"

#include "runtime/math/sum.h"

namespace allot::statistics {

std::vector<double> centered(std::span<const double> values) {
  const double mean = math::mean(values).value_or(0.0);
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(value - mean);
  return result;
}

std::vector<double> standardized(std::span<const double> values, int ddof, double epsilon) {
  const double deviation = math::deviation(values, ddof).value_or(0.0);
  if (deviation == 0.0) return std::vector<double>(values.size(), 0.0);
  std::vector<double> result = centered(values);
  for (double& value : result) value /= deviation + epsilon;
  return result;
}

// The mean of the others is (n · mean − value) / (n − 1), so the difference is (value − mean) · n / (n − 1).
std::vector<double> less_mean_of_others(std::span<const double> values) {
  if (values.size() < 2) return std::vector<double>(values.size(), 0.0);
  const auto count = static_cast<double>(values.size());
  std::vector<double> result = centered(values);
  for (double& value : result) value = value * count / (count - 1.0);
  return result;
}

double masked_mean(std::span<const double> values, std::span<const double> mask, double epsilon) {
  double total = 0;
  double weight = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A masked-out value may be anything, a NaN too.
    if (mask[i] != 0) total += values[i] * mask[i];
    weight += mask[i];
  }
  const double divisor = weight + epsilon;
  return divisor == 0 ? 0.0 : total / divisor;
}

}  // namespace allot::statistics
