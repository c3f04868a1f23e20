// Philox 4x32-10, a counter-based generator (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
//
// A number depends on its address alone, never on how many were drawn before: the order in which rollouts run, stop
// and resume cannot change what they sample.
#pragma once

#include <array>
#include <cstdint>

namespace allot::training {

// Four words for the address (key; stream, index).
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t stream, std::uint64_t index) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                                    static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0], b = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// 53 bits of two words as a real in [0, 1).
constexpr double unit_interval(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1.0p-53;
}

}  // namespace allot::training
