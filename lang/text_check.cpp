#include "lang/text_check.h"

#include <fmt/format.h>

#include "lang/limits.h"
#include "lang/unicode.h"

namespace allot::lang {

bool check_text(const Source& source, std::size_t file, Diagnostics& diagnostics) {
  const Span range = source.file(file);
  const auto size = range.end - range.begin;
  if (size > limits.source_bytes) {
    diagnostics.add({.code = "E0019",
                     .span = {range.begin, range.begin},
                     .message = fmt::format("this file has {} bytes, more than {}", size, limits.source_bytes),
                     .help = "a policy is a few pages; move what is generated elsewhere"});
    return false;
  }
  const auto text = source.text().substr(0, range.end);
  for (std::size_t at = range.begin; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c < 0x7F) {
      ++at;
      continue;
    }
    const auto begin = static_cast<std::uint32_t>(at);
    const auto point = code_point_at(text, at);
    const Span span{begin, begin + static_cast<std::uint32_t>(point.bytes)};
    at += static_cast<std::size_t>(point.bytes);
    if (point.value < 0) {
      diagnostics.add({.code = "E0020",
                       .span = span,
                       .message = fmt::format("not UTF-8 at byte {}", begin - range.begin),
                       .help = "save the file as UTF-8"});
      return false;
    }
    if (!deceptive(point.value)) continue;
    const bool control = point.value < 0xA0;
    diagnostics.add({.code = control ? "E0021" : "E0022",
                     .span = span,
                     .message = fmt::format("a policy may not hold this character: {}", deceptive_name(point.value)),
                     .help = control ? "remove it" : "remove it: it makes a text read differently from what runs"});
  }
  return true;
}

}  // namespace allot::lang
