#include "lang/source.h"

#include <algorithm>
#include <utility>

namespace allot::lang {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::vector<std::pair<std::string, std::string>> alone(std::string name, std::string text) {
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back(std::move(name), std::move(text));
  return files;
}

}  // namespace

Source::Source(std::string name, std::string text) : Source(alone(std::move(name), std::move(text))) {}

Source::Source(std::vector<std::pair<std::string, std::string>> files) {
  line_starts_.push_back(0);
  for (auto& [name, text] : files) {
    if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
    if (!files_.empty()) {  // no line belongs to two files
      text_ += '\n';
      line_starts_.push_back(static_cast<std::uint32_t>(text_.size()));
    }
    const std::size_t begin = text_.size();
    files_.push_back({std::move(name), static_cast<std::uint32_t>(begin), line_count() - 1});
    if (text_.empty())
      text_ = std::move(text);
    else
      text_ += text;
    for (std::size_t i = begin; i < text_.size(); ++i) {
      const bool lone_return = text_[i] == '\r' && !(i + 1 < text_.size() && text_[i + 1] == '\n');
      if (text_[i] == '\n' || lone_return) line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
    }
  }
}

const Source::File& Source::file_at(std::uint32_t offset) const {
  const auto after = std::upper_bound(files_.begin(), files_.end(), offset,
                                      [](std::uint32_t at, const File& file) { return at < file.begin; });
  return *std::prev(after);
}

Span Source::file(std::size_t index) const {
  const auto size = static_cast<std::uint32_t>(text_.size());
  return {files_[index].begin, index + 1 < files_.size() ? files_[index + 1].begin - 1 : size};
}

std::string_view Source::text(Span span) const {
  const auto end = std::min<std::size_t>(span.end, text_.size());
  const auto begin = std::min<std::size_t>(span.begin, end);
  return std::string_view(text_).substr(begin, end - begin);
}

int Source::line_number(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<int>(after - line_starts_.begin());
}

Place Source::place(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const int line = line_number(offset);
  int column = 1;
  for (auto i = line_starts_[static_cast<std::size_t>(line - 1)]; i < offset; ++i) {
    if (!continues_code_point(text_[i])) ++column;
  }
  return {line - file_at(offset).lines_before, column};
}

std::string_view Source::line_at(std::uint32_t offset) const {
  return line(line_number(std::min(offset, static_cast<std::uint32_t>(text_.size()))));
}

std::string Source::where(std::uint32_t offset) const {
  return name(offset) + ":" + std::to_string(place(offset).line);
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

std::string one_line(std::string_view text) {
  std::string line;
  bool comment = false;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"' && !comment) quoted = !quoted;
    if (c == '#' && !quoted) comment = true;
    if (c == '\n' || c == '\r') comment = false;
    if (comment) continue;
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace allot::lang
