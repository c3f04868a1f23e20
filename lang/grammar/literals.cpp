// Numbers and the pieces of strings. Shapes are matched by hand and values by std::from_chars: a number that does not
// fit must say so at the number, and every decimal must read back exactly.
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "lang/grammar/state.h"
#include "lang/words.h"

namespace allot::lang::grammar {
namespace {

// Past digits that single underscores may part: 400_000_000.
Iterator past_digits(Iterator at, Iterator last) {
  while (at != last && (is_digit(*at) || (*at == '_' && at + 1 != last && is_digit(at[-1]) && is_digit(at[1])))) ++at;
  return at;
}

Iterator past_exponent(Iterator at, Iterator last) {
  if (at == last || (*at != 'e' && *at != 'E')) return at;
  auto digits = at + 1;
  if (digits != last && (*digits == '+' || *digits == '-')) ++digits;
  if (digits == last || !is_digit(*digits)) return at;
  return past_digits(digits, last);
}

std::string without_underscores(Iterator first, Iterator last) {
  std::string text;
  for (; first != last; ++first) {
    if (*first != '_') text += *first;
  }
  return text;
}

}  // namespace

void State::check_number(const tree::Expr& number) const {
  const auto* begin = number.text.data();
  const auto* end = begin + number.text.size();
  if (number.kind == tree::ExprKind::Integer) {
    std::uint64_t value = 0;
    const auto result = std::from_chars(begin, end, value);
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (result.ec == std::errc::result_out_of_range || value > most + 1) {
      refuse("E0009", number.span, fmt::format("{} does not fit an int", number.text.substr(0, 40)),
             fmt::format("an int lies in -{}..{}", least_int_digits, most));
    }
    return;
  }
  double value = 0;
  if (std::from_chars(begin, end, value).ec == std::errc::result_out_of_range) {
    refuse("E0011", number.span, fmt::format("{} does not fit a real", number.text.substr(0, 40)),
           "a real has a size between about 5e-324 and 1.8e308");
  }
}

bool State::integer(Iterator& first, Iterator last, tree::Expr& found) {
  const auto begin = skip(first, last);
  if (begin == last || !is_digit(*begin)) return false;
  const auto end = past_digits(begin, last);
  if (end != last && is_name_char(*end)) return false;
  if (end != last && *end == '.' && end + 1 != last && is_digit(end[1])) return false;
  found = {};
  found.kind = tree::ExprKind::Integer;
  found.text = without_underscores(begin, end);
  found.span = span(begin, end);
  check_number(found);
  if (found.text == least_int_digits) refuse("E0009", found.span, fmt::format("{} does not fit an int", found.text));
  first = end;
  return true;
}

bool State::number(Iterator& first, Iterator last, tree::Expr& found) {
  const auto begin = skip(first, last);
  if (!bare_number(first, last, found)) return false;
  if (found.kind != tree::ExprKind::Percent) {
    const auto next = skip(first, last);
    const auto word = word_at(next, last);
    // `given x = 3 iteration { … }`: a word before a brace begins a block.
    const auto after = skip(next + word.size(), last);
    if (after == last || *after != '{') found.unit = unit_named(word);
    if (!found.unit.empty()) first = next + word.size();
  }
  found.span = span(begin, first);
  return true;
}

bool State::score(Iterator& first, Iterator last, tree::Expr& found) {
  const auto begin = skip(first, last);
  auto at = begin;
  const bool negative = mark(at, last, "-", false);
  if (!bare_number(at, last, found)) {
    want(first, last, "a reward, `?` or `!`");
    return false;
  }
  if (negative) found.text.insert(0, 1, '-');
  first = at;
  found.span = span(begin, first);
  return true;
}

bool State::bare_number(Iterator& first, Iterator last, tree::Expr& found) {
  const auto begin = skip(first, last);
  if (begin == last || !is_digit(*begin)) return false;
  auto end = past_digits(begin, last);
  const auto whole = end;
  if (end != last && *end == '.' && end + 1 != last && is_digit(end[1])) end = past_digits(end + 1, last);
  end = past_exponent(end, last);
  if (end != last && *end == '.' && (end + 1 == last || (end[1] != '.' && !is_name_start(end[1])))) {
    refuse("E0010", span(begin, end + 1), fmt::format("`{}` ends with its point", std::string_view(begin, end + 1)),
           fmt::format("write `{}.0`", std::string_view(begin, end)));
  }
  if (end != last && is_name_char(*end)) {
    auto after = end;
    while (after != last && is_name_char(*after)) ++after;
    refuse("E0010", span(begin, after),
           fmt::format("`{}` is neither a number nor a name", std::string_view(begin, after).substr(0, 40)),
           "numbers are written 12, 4_000, 0.5 or 1e-9; a unit is a word of its own: 8 rollouts");
  }
  found = {};
  found.kind = end == whole ? tree::ExprKind::Integer : tree::ExprKind::Real;
  found.text = without_underscores(begin, end);
  found.span = span(begin, end);
  if (end != last && *end == '%') {
    found.kind = tree::ExprKind::Percent;
    ++end;
  }
  check_number(found);
  first = end;
  found.span = span(begin, first);
  return true;
}

bool State::size_number(Iterator& first, Iterator last, std::string& found) {
  tree::Expr number;
  if (!integer(first, last, number)) return false;
  found = number.text;
  return true;
}

// ---- strings

bool State::text_piece(Iterator& first, Iterator last, std::string& found) {
  auto at = first;
  found.clear();
  while (at != last && *at != '"') {
    const char next = at + 1 != last ? at[1] : '\0';
    if (*at == '{') {
      if (next != '{') break;
      ++at;
    } else if (*at == '}') {
      if (next != '}') {
        refuse("E0006", span(at, at + 1), "a `}` that closes no hole", "write `}}` for a brace in a message");
      }
      ++at;
    } else if (*at == '\\') {
      if (next != 'n' && next != '"' && next != '\\') {
        refuse("E0006", span(at, std::min(at + 2, last)), "an escape that means nothing",
               "the escapes are \\n, \\\" and \\\\; braces are doubled: {{ and }}");
      }
      found += next == 'n' ? '\n' : next;
      at += 2;
      continue;
    }
    found += *at++;
  }
  if (at == first) return false;
  first = at;
  return true;
}

bool State::hole_begin(Iterator& first, Iterator last) {
  if (first == last || *first != '{') return false;
  ++first;
  return true;
}

bool State::string_end(Iterator& first, Iterator last) {
  if (first == last || *first != '"') {
    want(first, last, "`\"`");
    return false;
  }
  ++first;
  return true;
}

}  // namespace allot::lang::grammar
