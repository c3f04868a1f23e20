// Mean, minimum and maximum of distances that arrive in any order: whole numbers are added, so the order of arrival
// leaves no trace in the last bit.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/statistics/symbol.h"

namespace allot::statistics {

class Tally {
 public:
  // Distances whose divisor is the same.
  struct Bucket {
    int divisor = 0;
    int pairs = 0;
    std::int64_t total = 0;
    int least = 0;
    int most = 0;
    void add(int distance) {
      least = pairs == 0 || distance < least ? distance : least;
      most = distance > most ? distance : most;
      total += distance;
      ++pairs;
    }
    void merge(const Bucket& other);  // of the same divisor
  };

  explicit Tally(int divisor) : full_{.divisor = divisor} {}
  // Starts with pairs that are settled already.
  Tally(int divisor, const std::vector<Bucket>& settled) : full_{.divisor = divisor}, shorter_(settled) {}

  // One pair's distance. `divisor` is the longer length of the two sequences, at most that of the tally.
  void add(int distance, int divisor);
  // All pairs of a bucket that has the tally's own divisor.
  void merge(const Bucket& bucket) { full_.merge(bucket); }
  int pairs() const;
  // At least one pair must have been added. Normalised means: Σ (total / divisor) over ascending divisors, / pairs;
  // with one divisor only, total / (pairs · divisor) in a single rounding, so that 28/280 is the double 0.1.
  PairSummary summary(Scale scale) const;
  // The same where every distance is divided by `divisor`.
  PairSummary summary_over(int divisor) const;

 private:
  Bucket full_;
  std::vector<Bucket> shorter_;  // ascending divisors, all below that of full_
};

// Adds to the bucket of `divisor`, keeping them ascending.
void add_to_buckets(std::vector<Tally::Bucket>& buckets, int distance, int divisor);

}  // namespace allot::statistics
