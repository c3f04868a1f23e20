#include "runtime/cli/terminal_text.h"

#include <fmt/format.h>

#include "lang/unicode.h"

namespace allot::cli {

namespace {

constexpr std::string_view continued = "\n      ";

std::string cleaned(std::string_view text, std::string_view line_end) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const lang::CodePoint point = lang::code_point_at(text, at);
    const std::string_view bytes = text.substr(at, static_cast<std::size_t>(point.bytes));
    at += bytes.size();
    if (point.value == '\n') {
      shown += at == text.size() ? "\n" : line_end;
    } else if (point.value < 0) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    } else if (point.value == '\r' || lang::deceptive(point.value)) {
      shown += fmt::format("\\u{{{:x}}}", point.value);
    } else {
      shown += bytes;
    }
  }
  return shown;
}

}  // namespace

std::string for_terminal(std::string_view text) { return cleaned(text, continued); }
std::string lines_for_terminal(std::string_view text) { return cleaned(text, "\n"); }

}  // namespace allot::cli
