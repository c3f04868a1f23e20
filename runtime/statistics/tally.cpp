#include "runtime/statistics/tally.h"

#include <algorithm>

namespace allot::statistics {
namespace {

using Bucket = Tally::Bucket;

// Two empty sequences have distance 0 and divisor 0, and their ratio is 0.
double ratio(double distance, int divisor) {
  return divisor == 0 ? 0.0 : distance / divisor;
}

}  // namespace

void Tally::Bucket::merge(const Bucket& other) {
  if (other.pairs == 0) return;
  least = pairs == 0 ? other.least : std::min(least, other.least);
  most = std::max(most, other.most);
  total += other.total;
  pairs += other.pairs;
}

void add_to_buckets(std::vector<Bucket>& buckets, int distance, int divisor) {
  auto place = std::lower_bound(buckets.begin(), buckets.end(), divisor,
                                [](const Bucket& bucket, int value) { return bucket.divisor < value; });
  if (place == buckets.end() || place->divisor != divisor) place = buckets.insert(place, Bucket{.divisor = divisor});
  place->add(distance);
}

void Tally::add(int distance, int divisor) {
  if (divisor == full_.divisor) {
    full_.add(distance);
  } else {
    add_to_buckets(shorter_, distance, divisor);
  }
}

int Tally::pairs() const {
  int count = full_.pairs;
  for (const Bucket& bucket : shorter_) count += bucket.pairs;
  return count;
}

PairSummary Tally::summary(Scale scale) const {
  if (scale == Scale::Raw) return summary_over(1);
  if (shorter_.empty()) return summary_over(full_.divisor);
  PairSummary result{.mean = 0, .min = 1, .max = 0};
  const auto take = [&result](const Bucket& bucket) {
    if (bucket.pairs == 0) return;
    result.mean += ratio(static_cast<double>(bucket.total), bucket.divisor);
    result.min = std::min(result.min, ratio(bucket.least, bucket.divisor));
    result.max = std::max(result.max, ratio(bucket.most, bucket.divisor));
  };
  for (const Bucket& bucket : shorter_) take(bucket);
  take(full_);
  result.mean /= pairs();
  return result;
}

PairSummary Tally::summary_over(int divisor) const {
  Bucket all = full_;
  for (const Bucket& bucket : shorter_) all.merge(bucket);
  const double share = static_cast<double>(all.pairs) * std::max(divisor, 1);
  return {static_cast<double>(all.total) / share, ratio(all.least, divisor), ratio(all.most, divisor)};
}

}  // namespace allot::statistics
