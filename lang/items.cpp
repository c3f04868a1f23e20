#include "lang/items.h"

#include "lang/unicode.h"
#include "lang/words.h"

namespace allot::lang {
namespace {

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == '#') {
      while (at < text.size() && text[at] != '\n' && text[at] != '\r') ++at;
    } else if (is_blank(text[at])) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// Whether what comes after an item's word is what must come there, so that the word cannot be a mere name.
bool follows(std::string_view text, std::string_view word, std::size_t next) {
  if (next >= text.size()) return false;
  if (word == "test" || word == "scenario") return text[next] == '"';
  const auto after = word_at(text, next);
  if (word == "hit") return after == "when";
  if (word == "flat") return after == "within";
  if (word == "refill") return after == "at";
  if (word == "budget") {
    const auto colon = skip_blanks(text, next + after.size());
    return !after.empty() && after != "in" && (colon >= text.size() || text[colon] != ':');
  }
  return is_name_start(text[next]) && !joins_operands(after) && after != "in";
}

}  // namespace

std::string_view word_at(std::string_view text, std::size_t at) {
  auto end = at;
  while (end < text.size() && is_name_char(text[end])) ++end;
  return text.substr(at, end - at);
}

bool begins_item(std::string_view text, std::size_t at, std::string_view name, const Surroundings& around) {
  if (!around.has_item) return true;
  if (name.empty() || (around.previous == Previous::Dot && !around.fresh_line) || around.in_string) return false;
  const bool known = is_item_word(name);
  const auto next = skip_blanks(text, at + name.size());
  const bool of_scenario = around.item == "scenario" && name == "budget" && !around.outside;
  if (of_scenario && text[at - 1] != '\n') return false;
  if (known && follows(text, name, next))
    return around.fresh_line || (around.outside && around.previous == Previous::Operand);
  if (!around.outside || !around.fresh_line || around.previous != Previous::Operand) return false;
  const bool at_margin = at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
  const bool as_name = next < text.size() && std::string_view(":=.,)]").find(text[next]) != std::string_view::npos;
  return known ? at_margin || !as_name : at_margin && !continues_item(name);
}

}  // namespace allot::lang
