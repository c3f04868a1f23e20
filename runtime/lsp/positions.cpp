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

Position PositionCursor::at(const lang::Source& source, std::uint32_t offset) {
  const bool goes_on = line_.data() != nullptr && offset >= begin_ + within_ && offset <= begin_ + line_.size();
  if (!goes_on) {
    const int line = source.place(offset).line;
    line_ = source.line(line);
    begin_ = begin_of(source, line_);
    within_ = 0;
    position_ = {line - 1, 0};
  }
  const std::size_t end = std::min<std::size_t>(offset - std::min(offset, begin_), line_.size());
  while (within_ < end) {
    const lang::CodePoint point = lang::code_point_at(line_, within_);
    position_.character += units(point);
    within_ += static_cast<std::size_t>(point.bytes);
  }
  return position_;
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
