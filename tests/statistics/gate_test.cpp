#include "runtime/statistics/gate.h"

#include <catch2/catch.hpp>

using namespace allot::statistics;

// allocation.md §3, the table's row for 0.12.
TEST_CASE("quality of a gate is counted over its stops and over the flat groups") {
  const GateQuality quality = gate_quality({100, 39, 21, 17, 10, 30});
  CHECK(quality.precision == 17 / 21.0);
  CHECK(quality.recall == 17 / 39.0);
  CHECK(quality.saved.value() == Approx(0.11333333333333333));
  CHECK(quality.saved_raw.value() == Approx(0.14));
}

TEST_CASE("a gate without stops has no precision, and a run without flat groups no recall") {
  const GateQuality idle = gate_quality({.groups = 4, .turn = 10, .turn_limit = 30});
  CHECK_FALSE(idle.precision);
  CHECK_FALSE(idle.recall);
  CHECK(idle.saved == 0.0);
  CHECK_FALSE(gate_quality({}).saved);
}

TEST_CASE("dropping groups without a gradient raises the mean of the rest") {
  CHECK(gradient_dilution_gain(0.4, 0.28) == Approx(1.2));  // vector sel.dilution
  CHECK(gradient_dilution_gain(0.4, 0.4) == 1.0);
}
