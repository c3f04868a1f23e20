// Digests: one that names a policy, one that notices a damaged line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::math {

// SHA-256 (FIPS 180-4) as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

// CRC-32C (Castagnoli; RFC 3720, appendix B.4). `seed` continues a checksum over a text in parts; 0 starts one.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0) noexcept;
// The same as 8 lower-case hexadecimal digits.
std::string crc32c_hex(std::string_view bytes);

}  // namespace allot::math
