#include "runtime/math/random.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace allot::math;

// Known answers published with Random123 1.x (file kat_vectors, rows "philox4x32 10").
TEST_CASE("Philox gives its published known answers") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627E8D5u, 0xE169C58Du, 0xBC57AC4Cu, 0x9B00DBD8u});
  CHECK(philox4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        PhiloxCounter{0x408F276Du, 0x41C83B0Eu, 0xA20BC7C6u, 0x6D5451FDu});
  CHECK(philox4x32_10({0x243F6A88u, 0x85A308D3u, 0x13198A2Eu, 0x03707344u}, {0xA4093822u, 0x299F31D0u}) ==
        PhiloxCounter{0xD16CFE09u, 0x94FDCCEBu, 0x5001E420u, 0x24126EA1u});
}

// Test values of the FNV authors (draft-eastlake-fnv), and the first two outputs of SplitMix64 from state 0.
TEST_CASE("the hashes give their published values") {
  CHECK(fnv1a("") == 0xCBF29CE484222325u);
  CHECK(fnv1a("a") == 0xAF63DC4C8601EC8Cu);
  CHECK(fnv1a("foobar") == 0x85944171F73967E8u);
  CHECK(mix(0x9E3779B97F4A7C15u) == 0xE220A8397B1DCDAFu);
  CHECK(mix(2 * 0x9E3779B97F4A7C15u) == 0x6E789E6AA1B965F4u);
}

TEST_CASE("draws lie in the unit interval and average to a half") {
  double total = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double value = uniform(hash_text("draw"), 7, static_cast<std::uint64_t>(i));
    REQUIRE(value >= 0.0);
    REQUIRE(value < 1.0);
    total += value;
  }
  // Standard deviation of the mean: 1/sqrt(12 n) = 0.002; five of them.
  CHECK(std::fabs(total / count - 0.5) < 0.0103);
}

TEST_CASE("every part of key and counter moves a draw, and equal ones repeat it") {
  std::set<double> seen;
  for (std::uint64_t key : {1u, 2u}) {
    for (std::uint64_t high : {0u, 1u}) {
      for (std::uint64_t low : {0u, 1u}) seen.insert(uniform(key << 32, high << 40, low << 50));
    }
  }
  CHECK(seen.size() == 8);
  CHECK(uniform(3, 4, 5) == uniform(3, 4, 5));
  CHECK(combine(combine(0, 1), 2) != combine(combine(0, 2), 1));
}

TEST_CASE("bounded draws reach every value and none beyond") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i) seen.insert(below(5, 11, 0, i));
  CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(below(1, 11, 0, 0) == 0);
}
