// From the furthest failure to a message: what is missing, where, and what the author may have meant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lang/grammar/state.h"
#include "lang/words.h"

namespace allot::lang::grammar {
namespace {

constexpr std::size_t longest_shown = 40;

// What people who come from other languages meant.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> meant{{
    {"&&", "write `and`"},
    {"&", "write `and`"},
    {"||", "write `or`"},
    {"|", "write `or`"},
    {"!", "write `not`"},
    {"%", "the remainder is written `a mod b`; a percentage has its sign right after the digits: `25%`"},
    {"**", "there is no operator for powers"},
    {"^", "there is no operator for powers"},
    {"//", "a comment begins with `#`"},
    {";", "remove it: statements end by themselves"},
    {"'", "strings stand in double quotes"},
    {"?", "write `if condition then a else b`"},
    {"+", "there is no unary plus: leave it out"},
    {"++", "there is no unary plus: leave it out"},
    {"elif", "write `else if`"},
    {"elsif", "write `else if`"},
    {".", "a number has a digit before its point: `0.5`"},
    {":=", "write `=`"},
    {"+=", "write `=`"},
    {"-=", "write `=`"},
}};

constexpr std::array<std::string_view, 16> two_characters{
    "&&", "||", "**", "//", "==", "<=", ">=", "!=", "??", "->", "..", ":=", "=>", "++", "+=", "-="};

std::string shown(std::string_view token) {
  if (token == "\"") return "a string";
  const bool cut = token.size() > longest_shown;
  return fmt::format("`{}{}`", token.substr(0, longest_shown), cut ? "..." : "");
}

}  // namespace

std::string_view State::token_at(Iterator first, Iterator last) const {
  if (first == last) return {};
  if (const auto word = word_at(first, last); !word.empty()) return word;
  auto end = first;
  while (end != last && is_digit(*first) && (is_name_char(*end) || *end == '.')) ++end;
  if (end != first) return {first, static_cast<std::size_t>(end - first)};
  const std::string_view rest(first, static_cast<std::size_t>(last - first));
  const bool two = std::any_of(two_characters.begin(), two_characters.end(),
                               [&](std::string_view candidate) { return rest.starts_with(candidate); });
  return rest.substr(0, two ? 2 : 1);
}

std::string State::wanted_text() const {
  std::string text;
  for (std::size_t i = 0; i < wants_.size(); ++i) {
    if (i > 0) text += i + 1 == wants_.size() ? " or " : ", ";
    text += wants_[i].what;
  }
  return text;
}

bool State::wanted(std::string_view part) const {
  return std::any_of(wants_.begin(), wants_.end(),
                     [&](const Want& want) { return want.what.find(part) != std::string::npos; });
}

// The wanted word that `found` may be: `thn`, or run together with the next as in `otherwisekeep`.
std::string State::near_word(std::string_view found) const {
  if (found.empty() || !is_name_start(found[0])) return {};
  std::vector<std::string> candidates;
  for (const auto& want : wants_) candidates.insert(candidates.end(), want.words.begin(), want.words.end());
  std::string front;
  for (const auto& candidate : candidates) {
    if (candidate.size() >= 2 && candidate.size() > front.size() && found.starts_with(candidate)) front = candidate;
  }
  return front.empty() ? near_match(found, candidates) : front;
}

// `assigned`: a `=` follows it.
std::string State::help_for(std::string_view found, bool assigned) const {
  if (wanted("a statement")) {
    if (found == "if") return "a rule begins with `when`";
    if (found == "else" || found == "elif") return "the last rule begins with `otherwise`";
    if (found == "return") return "a verdict needs no word before it";
  }
  if (found == "=" && wanted("`:` and a type")) return "say of which type it is: `: int`, `: real`, `: tokens`, …";
  if (found == "if" && (wanted("`]`") || wanted("`)`"))) return "what is walked is chosen by `where`: [r.tokens for r in g.rollouts where r.alive]";
  if ((found == "and" || found == "&") && wanted("`,`") && wanted("`because`")) {
    return "the fields of a verdict are parted by commas: `stop, drop`";
  }
  if (found == "=" && (wants_.empty() || wanted("`then`") || wanted("statement"))) return "equality is written `==`";
  for (const auto& [token, words] : meant) {
    if (token == found) return std::string(words);
  }
  if (!found.empty() && is_reserved(found) && wanted("name")) {
    return fmt::format("`{}` is a reserved word; choose another name", found);
  }
  const auto near = near_word(found);
  if (near.empty() && wanted("a statement") && assigned) {
    const bool target = found == "reward" || found == "advantages" || found == "weights" || found == "baseline" || found == "loss";
    return target ? fmt::format("write `set {} = …`", found)
                  : fmt::format("a value is named with `let {0} = …`; state is written with `remember {0} = …`", found);
  }
  if (near.empty() && wanted("a decision point")) {
    std::string points;
    for (const std::string& point : point_words()) points += (points.empty() ? "" : ", ") + point;
    return "points are " + points;
  }
  return near.empty() ? std::string() : fmt::format("did you mean `{}`?", near);
}

Diagnostic State::explain(Iterator first, Iterator last) const {
  // Everything was read up to `first`, and nothing was wanted after it: what follows is too much.
  const auto rest = skip(first, last);
  if (furthest_ == nullptr || furthest_ < rest) {
    const auto found = token_at(rest, last);
    State nothing_wanted(source_, tree_);
    auto help = nothing_wanted.help_for(found);
    if (const auto near = near_match(found, item_words()); help.empty() && !near.empty()) {
      help = fmt::format("did you mean `{}`?", near);
    }
    return {.code = "E0001",
            .span = span(rest, rest + found.size()),
            .message = fmt::format("unexpected {}", shown(found)),
            .help = help};
  }
  const auto found = token_at(furthest_, last);
  const std::string_view blanks(end_of_last_, static_cast<std::size_t>(furthest_ - end_of_last_));
  const bool same_line = !found.empty() && blanks.find_first_of("\n\r#") == std::string_view::npos;
  // What stands on a later line is not what is wrong, unless it is the missing word misspelt, or nothing needs to come.
  const bool may_end = wanted("a statement") || wanted("`expect`");
  if (same_line || (may_end && !found.empty()) || !near_word(found).empty()) {
    return {.code = "E0001",
            .span = span(furthest_, furthest_ + found.size()),
            .message = fmt::format("expected {}, found {}", wanted_text(), shown(found)),
            .help = help_for(found, token_at(skip(furthest_ + found.size(), last), last) == "=")};
  }
  return {.code = "E0001",
          .span = span(end_of_last_, end_of_last_),
          .message = fmt::format("expected {}", wanted_text()),
          .label = "here"};
}

}  // namespace allot::lang::grammar
