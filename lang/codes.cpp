#include "lang/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

std::string page(const Code& code) {
  auto text = fmt::format("{}: {}\n\n{}\n", code.code, code.title, filled(code.explanation));
  if (!code.wrong.empty()) text += fmt::format("\nWrong:\n\n{}\n", indented(code.wrong));
  if (!code.right.empty()) text += fmt::format("\nRight:\n\n{}\n", indented(code.right));
  return text;
}

}  // namespace allot::lang
