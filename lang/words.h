// Characters and words that mean something to the scanner and the grammar alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allot::lang {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const std::vector<std::string>& item_words();       // start an item: policy, param, …
const std::vector<std::string>& statement_words();  // start a statement that is no verdict: let, when, …
const std::vector<std::string>& action_words();     // start an action of a verdict: stop, drop, …
const std::vector<std::string>& point_words();      // decision points: turn, wave, …
const std::vector<std::string>& subject_words();    // what a point is asked of: group, batch, …
const std::vector<std::string>& unit_words();       // rollouts, tokens, …

bool is_item_word(std::string_view word);
bool is_statement_word(std::string_view word);
bool is_action_word(std::string_view word);
// and, or, not, mod, is, if, then, else: an operand follows, or has just ended.
bool joins_operands(std::string_view word);
// May not name a value: the words above and those that start statements.
bool is_reserved(std::string_view word);
// No expression reaches past this word within its brackets.
bool ends_expression(std::string_view word);
// A line may begin with this word and still belong to the item before it.
bool continues_item(std::string_view word);
// The unit's usual name ("rollout" and "rollouts" give "rollouts"), or empty.
std::string_view unit_named(std::string_view word);

}  // namespace allot::lang
