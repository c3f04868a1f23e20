#include "lang/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace allot::lang {
namespace {

// Words filled into lines of at most 100 columns.
std::string filled(std::string_view text) {
  constexpr std::size_t columns = 100;
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > 0 && column + 1 + word.size() > columns) {
      result += '\n';
      column = 0;
    }
    if (column > 0) result += ' ';
    column += word.size() + (column > 0 ? 1 : 0);
    result += word;
  }
  return result;
}

std::string indented(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result;
}

}  // namespace

std::vector<const Code*> all_codes() {
  std::vector<const Code*> all;
  for (const auto& code : syntax_codes()) all.push_back(&code);
  for (const auto& code : check_codes()) all.push_back(&code);
  std::sort(all.begin(), all.end(), [](const Code* a, const Code* b) { return a->code < b->code; });
  return all;
}

const Code* find_code(std::string_view code) {
  std::string upper(code);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto* candidate : all_codes()) {
    if (candidate->code == upper) return candidate;
  }
  return nullptr;
}

namespace {

void append_utf8(std::string& text, unsigned value) {
  if (value < 0x80) {
    text += static_cast<char>(value);
  } else if (value < 0x800) {
    text += static_cast<char>(0xC0 | (value >> 6));
    text += static_cast<char>(0x80 | (value & 0x3F));
  } else {
    text += static_cast<char>(0xE0 | (value >> 12));
    text += static_cast<char>(0x80 | ((value >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (value & 0x3F));
  }
}

// What one piece of the notation stands for; nothing where `piece` (without its angle brackets) is none.
std::optional<std::string> meant(std::string_view piece) {
  constexpr std::string_view byte = "byte ", point = "U+", times = " times: ";
  std::string text;
  unsigned number = 0;
  const auto read = [&](std::string_view digits, int base) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), number, base).ec == std::errc();
  };
  if (piece.starts_with(byte) && read(piece.substr(byte.size()), 16)) return std::string(1, static_cast<char>(number));
  if (piece.starts_with(point) && read(piece.substr(point.size()), 16)) return append_utf8(text, number), text;
  const std::size_t at = piece.find(times);
  if (at == std::string_view::npos || !read(piece.substr(0, at), 10)) return std::nullopt;
  for (unsigned i = 0; i < number; ++i) text += piece.substr(at + times.size());
  return text;
}

}  // namespace

std::string example(std::string_view shown) {
  std::string text;
  while (!shown.empty()) {
    const std::size_t end = shown.front() == '<' ? shown.find('>') : std::string_view::npos;
    const auto piece = end == std::string_view::npos ? std::nullopt : meant(shown.substr(1, end - 1));
    text += piece ? *piece : std::string(1, shown.front());
    shown.remove_prefix(piece ? end + 1 : 1);
  }
  return text;
}

std::string page(const Code& code) {
  auto text = fmt::format("{}: {}\n\n{}\n", code.code, code.title, filled(code.explanation));
  if (!code.wrong.empty()) text += fmt::format("\nWrong:\n\n{}\n", indented(code.wrong));
  if (!code.right.empty()) text += fmt::format("\nRight:\n\n{}\n", indented(code.right));
  return text;
}

}  // namespace allot::lang
