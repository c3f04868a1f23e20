#include "runtime/training/run/intervals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "runtime/math/random.h"
#include "runtime/math/sum.h"

namespace allot::training {
namespace {

double mean(std::span<const double> values) {
  return values.empty() ? 0.0 : math::sum(values) / static_cast<double>(values.size());
}

std::size_t pick(std::uint64_t seed, std::uint64_t draw, std::uint64_t sample, std::size_t size) {
  const double u = math::uniform(seed, draw, sample);
  return std::min(static_cast<std::size_t>(u * static_cast<double>(size)), size - 1);
}

Interval percentiles(double centre, std::vector<double> means, double level) {
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) {
    const auto last = static_cast<double>(means.size() - 1);
    return means[static_cast<std::size_t>(std::lround(share * last))];
  };
  return {centre, at((1 - level) / 2), at((1 + level) / 2)};
}

}  // namespace

Interval bootstrap_mean(std::span<const double> values, double level, int resamples, std::uint64_t seed) {
  if (values.size() < 2) return {mean(values), mean(values), mean(values)};
  std::vector<double> means;
  std::vector<double> drawn(values.size());
  for (int draw = 0; draw < resamples; ++draw) {
    for (std::size_t i = 0; i < drawn.size(); ++i)
      drawn[i] = values[pick(seed, static_cast<std::uint64_t>(draw), i, values.size())];
    means.push_back(mean(drawn));
  }
  return percentiles(mean(values), std::move(means), level);
}

Interval bootstrap_rows(std::span<const std::vector<double>> rows, double level, int resamples, std::uint64_t seed) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  if (all.size() < 2) return {mean(all), mean(all), mean(all)};
  std::vector<double> means;
  for (int draw = 0; draw < resamples; ++draw) {
    std::vector<double> drawn;
    std::uint64_t counter = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto& row = rows[pick(seed, static_cast<std::uint64_t>(draw), counter++, rows.size())];
      for (std::size_t i = 0; i < row.size(); ++i)
        drawn.push_back(row[pick(seed, static_cast<std::uint64_t>(draw), counter++, row.size())]);
    }
    means.push_back(mean(drawn));
  }
  return percentiles(mean(all), std::move(means), level);
}

}  // namespace allot::training
