#include "runtime/worlds/process/utf8.h"

namespace allot::worlds::process {
namespace {

// Length of the sequence that `lead` opens and the range of its second byte (Unicode 15, table 3-7); 0: opens none.
struct Sequence {
  int length;
  unsigned char low;
  unsigned char high;
};

Sequence sequence(unsigned char lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead >= 0xC2 && lead <= 0xDF) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

std::optional<std::size_t> first_bad_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Sequence expected = sequence(static_cast<unsigned char>(text[at]));
    if (expected.length == 0 || text.size() - at < static_cast<std::size_t>(expected.length)) return at;
    for (int i = 1; i < expected.length; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
      const unsigned char low = i == 1 ? expected.low : 0x80;
      const unsigned char high = i == 1 ? expected.high : 0xBF;
      if (byte < low || byte > high) return at;
    }
    at += static_cast<std::size_t>(expected.length);
  }
  return std::nullopt;
}

}  // namespace allot::worlds::process
