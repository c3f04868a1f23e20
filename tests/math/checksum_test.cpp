#include "runtime/math/checksum.h"

#include <catch2/catch.hpp>
#include <string>

using namespace allot::math;

// FIPS 180-4 examples ("abc" and the empty message).
TEST_CASE("SHA-256 gives its published digests") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// RFC 3720, appendix B.4, and the customary check value of "123456789".
TEST_CASE("CRC-32C gives its published values") {
  CHECK(crc32c("123456789") == 0xE3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAu);
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43u);
  CHECK(crc32c("") == 0u);
  CHECK(crc32c_hex("123456789") == "e3069283");
}

TEST_CASE("a checksum in parts is the checksum of the whole, and one changed bit changes it") {
  const std::string text = "{\"group\": 7, \"verdict\": \"drop\"}";
  CHECK(crc32c(text.substr(9), crc32c(text.substr(0, 9))) == crc32c(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK(crc32c(damaged) != crc32c(text));
  }
}
