// The random numbers of model and sampler: Philox 4x32-10 (runtime/math/random.h) by address.
//
// A number depends on its address alone, never on how many were drawn before: the order in which rollouts run, stop
// and resume cannot change what they sample.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/math/random.h"

namespace allot::training {

// Four words for the address (key; stream, index).
inline std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t stream, std::uint64_t index) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  return math::philox4x32_10({low(index), high(index), low(stream), high(stream)}, {low(key), high(key)});
}

// 53 bits of two words as a real in [0, 1).
constexpr double unit_interval(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1.0p-53;
}

}  // namespace allot::training
