// Randomness by counters: a draw is a pure function of what it is for, so that it does not depend on the order of
// arrival, the number of workers or the draws before it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace allot::math {

// Philox4x32-10 of Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;
PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept;

// Bytes to 64 bits: FNV-1a (Fowler, Noll & Vo), whose weak high bits `mix` then spreads. No secret key, so it is not
// for adversaries; equal on every machine.
std::uint64_t fnv1a(std::string_view text) noexcept;
// The output function of SplitMix64 (Steele, Lea & Flood 2014): a bijection.
std::uint64_t mix(std::uint64_t value) noexcept;
std::uint64_t hash_text(std::string_view text) noexcept;
// Folds one more part into a key. The order of the parts matters.
std::uint64_t combine(std::uint64_t key, std::uint64_t part) noexcept;

// A real in [0, 1), a multiple of 2^−53, each equally likely.
double uniform(std::uint64_t key, std::uint64_t high, std::uint64_t low) noexcept;
// An integer in [0, bound), bound >= 1, by multiplication; the bias is below bound / 2^64.
std::uint64_t below(std::uint64_t bound, std::uint64_t key, std::uint64_t high, std::uint64_t low) noexcept;

}  // namespace allot::math
