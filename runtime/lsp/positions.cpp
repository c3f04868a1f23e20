#include "runtime/lsp/positions.h"

#include <algorithm>

#include "lang/unicode.h"

namespace allot::lsp {

namespace {

int units(const lang::CodePoint& point) {
  return point.value > 0xFFFF ? 2 : 1;
}

std::uint32_t begin_of(const lang::Source& source, std::string_view line) {
  return static_cast<std::uint32_t>(line.data() - source.text().data());
}

}  // namespace

Position position_of(const lang::Source& source, std::uint32_t offset) {
  const int line = source.place(offset).line;
  const std::string_view text = source.line(line);
  const std::size_t within = std::min<std::size_t>(offset - std::min(offset, begin_of(source, text)), text.size());
  Position position{line - 1, 0};
  for (std::size_t at = 0; at < within;) {
    const lang::CodePoint point = lang::code_point_at(text, at);
    position.character += units(point);
    at += static_cast<std::size_t>(point.bytes);
  }
  return position;
}

std::uint32_t offset_of(const lang::Source& source, Position position) {
  if (position.line >= source.line_count()) return static_cast<std::uint32_t>(source.text().size());
  const std::string_view text = source.line(std::max(0, position.line) + 1);
  std::size_t at = 0;
  for (int left = position.character; at < text.size() && left > 0;) {
    const lang::CodePoint point = lang::code_point_at(text, at);
    left -= units(point);
    at += static_cast<std::size_t>(point.bytes);
  }
  return begin_of(source, text) + static_cast<std::uint32_t>(std::min(at, text.size()));
}

}  // namespace allot::lsp
