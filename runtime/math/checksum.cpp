#include "runtime/math/checksum.h"

#include <sodium.h>

#include <array>

namespace allot::math {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78u : 0u);
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed) noexcept {
  std::uint32_t value = ~seed;
  for (const char byte : bytes) value = (value >> 8) ^ table[(value ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~value;
}

std::string crc32c_hex(std::string_view bytes) {
  const std::uint32_t value = crc32c(bytes);
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[(value >> shift) & 15];
  return text;
}

}  // namespace allot::math
