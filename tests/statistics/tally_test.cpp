#include "runtime/statistics/tally.h"

#include <catch2/catch.hpp>

using namespace allot::statistics;

TEST_CASE("a tally is the plain mean, minimum and maximum of what was added") {
  Tally tally(4);
  tally.add(4, 4);
  tally.add(1, 2);
  tally.add(0, 4);
  tally.add(1, 3);
  CHECK(tally.pairs() == 4);
  const PairSummary raw = tally.summary(Scale::Raw);
  CHECK(raw == PairSummary{6 / 4.0, 0, 4});
  const PairSummary normalized = tally.summary(Scale::Normalized);
  CHECK(normalized.mean == Approx((1.0 + 0.5 + 0.0 + 1.0 / 3.0) / 4).epsilon(1e-15));
  CHECK(normalized.min == 0.0);
  CHECK(normalized.max == 1.0);
}

TEST_CASE("the order of arrival leaves no trace") {
  Tally forward(7);
  Tally backward(7);
  for (int i = 0; i < 7; ++i) forward.add(i % 4, 1 + i);
  for (int i = 6; i >= 0; --i) backward.add(i % 4, 1 + i);
  CHECK(forward.summary(Scale::Normalized) == backward.summary(Scale::Normalized));
}

TEST_CASE("empty sequences have ratio zero and not nothing over nothing") {
  Tally tally(3);
  tally.add(0, 0);
  tally.add(3, 3);
  CHECK(tally.summary(Scale::Normalized) == PairSummary{0.5, 0, 1});
}
