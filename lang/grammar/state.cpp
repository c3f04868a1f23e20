#include "lang/grammar/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/stack.h"
#include "lang/limits.h"
#include "lang/words.h"

namespace allot::lang::grammar {
namespace {

std::string quoted(std::string_view text) {
  return fmt::format("`{}`", text);
}

}  // namespace

Iterator State::skip(Iterator first, Iterator last) const {
  while (first != last) {
    if (*first == '#') {
      while (first != last && *first != '\n' && *first != '\r') ++first;
    } else if (is_blank(*first)) {
      ++first;
    } else {
      break;
    }
  }
  return first;
}

std::string_view State::word_at(Iterator first, Iterator last) const {
  auto end = first;
  if (end != last && is_name_start(*end)) {
    while (end != last && is_name_char(*end)) ++end;
  }
  return {first, static_cast<std::size_t>(end - first)};
}

// ---- words and marks

bool State::word(Iterator& first, Iterator last, std::string_view text, bool wanted) {
  const auto begin = skip(first, last);
  if (word_at(begin, last) != text) {
    if (wanted) want(first, last, quoted(text), {std::string(text)});
    return false;
  }
  first = begin + text.size();
  return true;
}

bool State::mark(Iterator& first, Iterator last, std::string_view text, bool wanted) {
  const auto begin = skip(first, last);
  std::string_view rest(begin, static_cast<std::size_t>(last - begin));
  const bool longer = text == "=" && rest.starts_with("==");
  if (!rest.starts_with(text) || longer) {
    if (wanted) want(first, last, quoted(text));
    return false;
  }
  first = begin + text.size();
  return true;
}

bool State::span_of_mark(Iterator& first, Iterator last, std::string_view text, Span& found) {
  const auto begin = skip(first, last);
  if (!mark(first, last, text, true)) return false;
  found = span(begin, first);
  return true;
}

bool State::one_of(Iterator& first, Iterator last, const std::vector<std::string>& words, std::string_view what,
                   tree::Name& found) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    want(first, last, what, words);
    return false;
  }
  first = begin + text.size();
  found = {std::string(text), span(begin, first)};
  return true;
}

bool State::name(Iterator& first, Iterator last, std::string_view what, tree::Name& found) {
  if (operand_name(first, last, found)) return true;
  want(first, last, what);
  return false;
}

bool State::any_name(Iterator& first, Iterator last, std::string_view what, tree::Name& found) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  if (text.empty()) {
    want(first, last, what);
    return false;
  }
  first = begin + text.size();
  found = {std::string(text), span(begin, first)};
  return true;
}

bool State::dotted_name(Iterator& first, Iterator last, std::string_view what, tree::Name& found) {
  if (!name(first, last, what, found)) return false;
  tree::Name part;
  while (dot(first, last)) {
    if (!any_name(first, last, "a name after `.`", part)) return false;
    found.text += "." + part.text;
    found.span.end = part.span.end;
  }
  return true;
}

bool State::operand_name(Iterator& first, Iterator last, tree::Name& found) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  if (text.empty() || is_reserved(text)) return false;
  first = begin + text.size();
  found = {std::string(text), span(begin, first)};
  return true;
}

bool State::label(Iterator& first, Iterator last, std::string& found) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  const auto colon = skip(begin + text.size(), last);
  if (text.empty() || colon == last || *colon != ':') return false;
  found = std::string(text);
  first = colon + 1;
  return true;
}

bool State::record_name(Iterator& first, Iterator last, std::string& found) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  const auto& subjects = subject_words();
  const auto brace = skip(begin + text.size(), last);
  const bool subject = std::find(subjects.begin(), subjects.end(), text) != subjects.end() || text == "run";
  if (!subject || brace == last || *brace != '{') return false;
  found = std::string(text);
  first = begin + text.size();
  return true;
}

// ---- operators

bool State::prefix(Iterator& first, Iterator last, Symbol& found) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  const std::size_t size =
      text == "not" ? 3 : begin != last && *begin == '-' && !(begin + 1 != last && begin[1] == '>');
  if (size == 0) return false;
  first = begin + size;
  found = {std::string(begin, first), span(begin, first)};
  return true;
}

bool State::infix(Iterator& first, Iterator last, Symbol& found) {
  static constexpr std::string_view words[] = {"and", "or", "mod"};
  static constexpr std::string_view marks[] = {"??", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/"};
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  const std::string_view rest(begin, static_cast<std::size_t>(last - begin));
  std::string_view op;
  for (const auto candidate : words) {
    if (text == candidate) op = candidate;
  }
  for (const auto candidate : marks) {
    if (op.empty() && rest.starts_with(candidate)) op = candidate;
  }
  // `**` and `//` are operators elsewhere, `->` belongs to a function's head: none of them is ours.
  if (op.empty() || rest.starts_with("->") || rest.starts_with("**") || rest.starts_with("//")) return false;
  first = begin + op.size();
  found = {std::string(op), span(begin, first)};
  return true;
}

bool State::undefined_test(Iterator& first, Iterator last, Symbol& found) {
  const auto begin = skip(first, last);
  auto at = begin;
  if (!word(at, last, "is", false)) return false;
  const bool negated = word(at, last, "not", false);
  if (!word(at, last, "undefined", true)) throw Refused{explain(at, last)};
  first = at;
  found = {negated ? "is not undefined" : "is undefined", span(begin, first)};
  return true;
}

bool State::dot(Iterator& first, Iterator last) {
  const auto begin = skip(first, last);
  if (begin == last || *begin != '.' || (begin + 1 != last && begin[1] == '.')) return false;
  first = begin + 1;
  return true;
}

// ---- looking ahead

bool State::value_here(Iterator first, Iterator last, std::string_view what) {
  const auto begin = skip(first, last);
  const auto text = word_at(begin, last);
  const bool word = !text.empty() && (!is_reserved(text) || text == "not" || text == "if");
  const bool mark =
      begin != last && (is_digit(*begin) || std::string_view("-([\"").find(*begin) != std::string_view::npos);
  if (word || mark) return true;
  want(first, last, what);
  return false;
}

bool State::action_here(Iterator first, Iterator last) {
  return is_action_word(word_at(skip(first, last), last));
}

bool State::subset_here(Iterator first, Iterator last) {
  const auto begin = skip(first, last);
  if (begin == last || *begin == ',' || *begin == '}') return false;
  const auto text = word_at(begin, last);
  if (text == "not" || text == "if") return true;
  return !is_reserved(text) && !is_action_word(text) && text != "with" && text != "given" && text != "expect";
}

bool State::decision_here(Iterator first, Iterator last) {
  tree::Name ignored;
  auto at = first;
  if (!operand_name(at, last, ignored) || !mark(at, last, "(", false) || !operand_name(at, last, ignored) ||
      !mark(at, last, ")", false)) {
    return false;
  }
  if (word(at, last, "because", false)) return true;
  if (!word(at, last, "is", false)) return false;
  const auto next = word_at(skip(at, last), last);
  return next != "undefined" && next != "not";
}

bool State::timed_decision_here(Iterator first, Iterator last) {
  tree::Name ignored;
  tree::Expr number;
  auto at = first;
  if (!operand_name(at, last, ignored)) return false;
  if (skip(at, last) != last && is_digit(*skip(at, last)) && !integer(at, last, number)) return false;
  const bool named = mark(at, last, "(", false) && (operand_name(at, last, ignored) || mark(at, last, "\"", false));
  if (!named) return false;
  const std::string_view rest(at, static_cast<std::size_t>(last - at));
  const auto end = rest.find(')');
  if (end == std::string_view::npos) return false;
  at += end + 1;
  return word(at, last, "because", false) || word(at, last, "is", false);
}

bool State::fate_here(Iterator first, Iterator last) {
  tree::Name ignored;
  auto at = first;
  if (mark(at, last, "\"", false)) {
    while (at != last && *at != '"') ++at;
    if (at == last) return false;
    ++at;
  } else if (!operand_name(at, last, ignored)) {
    return false;
  }
  if (!word(at, last, "is", false)) return false;
  const auto next = word_at(skip(at, last), last);
  return !next.empty() && next != "undefined" && next != "not";
}

// ---- wants

void State::want(Iterator first, Iterator last, std::string_view what, const std::vector<std::string>& words) {
  const auto begin = skip(first, last);
  if (furthest_ != nullptr && begin < furthest_) return;
  if (begin != furthest_) {
    wants_.clear();
    furthest_ = begin;
    end_of_last_ = first;
  }
  for (const auto& known : wants_) {
    if (known.what == what) return;
  }
  wants_.push_back({std::string(what), words});
}

void State::check_stack(Iterator first, Iterator last) const {
  if (!stack_ends()) return;
  const auto at = offset(skip(first, last));
  refuse("E0007", {at, at + 1}, "nested deeper than the stack of this thread allows",
         "name the inner parts with `let`");
}

void State::enter_level(Iterator first, Iterator last) {
  check_stack(first, last);
  if (++levels_ <= limits.depth) return;
  const auto at = offset(skip(first, last));
  refuse("E0007", {at, at + 1}, fmt::format("nested more than {} deep", limits.depth));
}

// ---- tree

tree::ExprId State::add(tree::Expr expr) {
  tree_.exprs.push_back(std::move(expr));
  return static_cast<tree::ExprId>(tree_.exprs.size()) - 1;
}

std::string_view State::text(Span span) const {
  return source_.text(span);
}

void State::refuse(std::string code, Span span, std::string message, std::string help) const {
  throw Refused{
      Diagnostic{.code = std::move(code), .span = span, .message = std::move(message), .help = std::move(help)}};
}

}  // namespace allot::lang::grammar
