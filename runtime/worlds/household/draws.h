// Random numbers that depend on a key and a counter alone, so that a task is the same on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace allot::worlds::household {

// A permutation of the 64-bit integers with full avalanche: the finaliser of SplitMix64 (Steele, Lea & Flood 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The n-th number of stream `key`. Two streams differ in every bit of their keys' mix, not in an offset.
class Draws {
 public:
  explicit constexpr Draws(std::uint64_t key, std::uint64_t stream = 0) : key_(mix(key ^ mix(stream))) {}

  constexpr std::uint64_t bits() { return mix(key_ ^ mix(counter_++)); }
  // In [0, 1), with 53 bits.
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  constexpr bool chance(double probability) { return uniform() < probability; }
  // In [low, high], both included; low <= high.
  constexpr int between(int low, int high) {
    return low + static_cast<int>(uniform() * static_cast<double>(high - low + 1));
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace allot::worlds::household
