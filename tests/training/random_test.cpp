#include <catch2/catch.hpp>

#include "runtime/training/philox.h"

using namespace allot::training;

TEST_CASE("Philox 4x32-10 gives the published numbers") {
  // Origin: known-answer tests of the Random123 distribution (kat_vectors, philox4x32 10).
  CHECK(philox(0, 0, 0) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(~0ull, ~0ull, ~0ull) == std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0x85a308d3243f6a88ull) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("A unit real is below 1 for every pair of words") {
  CHECK(unit_interval(0, 0) == 0.0);
  CHECK(unit_interval(0xffffffffu, 0xffffffffu) < 1.0);
  CHECK(unit_interval(0x80000000u, 0) == 0.5);
}
