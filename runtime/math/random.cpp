#include "runtime/math/random.h"

namespace allot::math {
namespace {

constexpr std::uint32_t multiplier_even = 0xD2511F53u;
constexpr std::uint32_t multiplier_odd = 0xCD9E8D57u;
constexpr std::uint32_t weyl_even = 0x9E3779B9u;  // golden ratio
constexpr std::uint32_t weyl_odd = 0xBB67AE85u;   // sqrt(3) − 1
constexpr int rounds = 10;

constexpr std::uint32_t low_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

PhiloxCounter philox_round(const PhiloxCounter& counter, const PhiloxKey& key) {
  const std::uint64_t even = std::uint64_t{multiplier_even} * counter[0];
  const std::uint64_t odd = std::uint64_t{multiplier_odd} * counter[2];
  return {high_word(odd) ^ counter[1] ^ key[0], low_word(odd), high_word(even) ^ counter[3] ^ key[1], low_word(even)};
}

std::uint64_t draw(std::uint64_t key, std::uint64_t high, std::uint64_t low) {
  const PhiloxCounter block =
      philox4x32_10({low_word(low), high_word(low), low_word(high), high_word(high)}, {low_word(key), high_word(key)});
  return (std::uint64_t{block[1]} << 32) | block[0];
}

}  // namespace

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < rounds; ++round) {
    counter = philox_round(counter, key);
    key[0] += weyl_even;
    key[1] += weyl_odd;
  }
  return counter;
}

std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  return hash;
}

std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

std::uint64_t hash_text(std::string_view text) noexcept {
  return mix(fnv1a(text));
}

std::uint64_t combine(std::uint64_t key, std::uint64_t part) noexcept {
  return mix(mix(key + 0x9E3779B97F4A7C15u) ^ part);
}

double uniform(std::uint64_t key, std::uint64_t high, std::uint64_t low) noexcept {
  return static_cast<double>(draw(key, high, low) >> 11) * 0x1.0p-53;
}

std::uint64_t below(std::uint64_t bound, std::uint64_t key, std::uint64_t high, std::uint64_t low) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(draw(key, high, low)) * bound) >> 64);
}

}  // namespace allot::math
