#include "runtime/math/overlong.h"

#include <catch2/catch.hpp>

using allot::math::overlong_penalty;

// Vectors overlong.* of allocation_vectors.json.
TEST_CASE("the penalty falls in a line over the last tokens and then stays") {
  CHECK(overlong_penalty(0, 16384, 4096) == 0.0);
  CHECK(overlong_penalty(12288, 16384, 4096) == 0.0);
  CHECK(overlong_penalty(14336, 16384, 4096) == -0.5);
  CHECK(overlong_penalty(16384, 16384, 4096) == -1.0);
  CHECK(overlong_penalty(99999, 16384, 4096) == -1.0);
  CHECK(overlong_penalty(14336, 16384, 4096, 2.0) == -1.0);
}
