#include "lang/source.h"

#include <algorithm>

namespace allot::lang {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

Source::Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  if (text_.starts_with(byte_order_mark)) text_.erase(0, byte_order_mark.size());
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const bool lone_return = text_[i] == '\r' && !(i + 1 < text_.size() && text_[i + 1] == '\n');
    if (text_[i] == '\n' || lone_return) line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

std::string_view Source::text(Span span) const {
  const auto end = std::min<std::size_t>(span.end, text_.size());
  const auto begin = std::min<std::size_t>(span.begin, end);
  return std::string_view(text_).substr(begin, end - begin);
}

Place Source::place(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<int>(after - line_starts_.begin());
  int column = 1;
  for (auto i = line_starts_[static_cast<std::size_t>(line - 1)]; i < offset; ++i) {
    if (!continues_code_point(text_[i])) ++column;
  }
  return {line, column};
}

std::string_view Source::line(int number) const {
  if (number < 1 || number > line_count()) return {};
  const auto index = static_cast<std::size_t>(number - 1);
  const std::size_t begin = line_starts_[index];
  std::size_t end = index + 1 < line_starts_.size() ? line_starts_[index + 1] : text_.size();
  if (end > begin && text_[end - 1] == '\n') --end;
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace allot::lang
