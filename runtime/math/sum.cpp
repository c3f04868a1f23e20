#include "runtime/math/sum.h"

#include <cmath>

#include "runtime/math/elementary.h"
#include "runtime/math/round.h"

namespace allot::math {
namespace {

// For sums beyond the largest double: the mean may still exist.
double mean_of_shares(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double total = 0;
  for (const double value : values) total += value / count;
  return total;
}

}  // namespace

double sum(std::span<const double> values) noexcept {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

std::optional<double> mean(std::span<const double> values) noexcept {
  if (values.empty()) return std::nullopt;
  double low = values.front();
  double high = values.front();
  for (const double value : values) {
    low = min(low, value);
    high = max(high, value);
  }
  const double total = sum(values);
  const double plain = std::isfinite(total) ? total / static_cast<double>(values.size()) : mean_of_shares(values);
  return clamp(plain, low, high);
}

double squared_deviations(std::span<const double> values) noexcept {
  const std::optional<double> centre = mean(values);
  double total = 0;
  for (const double value : values) total += (value - *centre) * (value - *centre);
  return total;
}

std::optional<double> variance(std::span<const double> values, int ddof) noexcept {
  if (values.empty()) return std::nullopt;
  const auto divisor = static_cast<double>(values.size()) - ddof;
  return divisor > 0 ? squared_deviations(values) / divisor : 0.0;
}

std::optional<double> deviation(std::span<const double> values, int ddof) noexcept {
  const std::optional<double> squared = variance(values, ddof);
  return squared ? std::optional(sqrt(*squared)) : std::nullopt;
}

}  // namespace allot::math
