#include "lang/format/format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/format/tokens.h"
#include "lang/parser.h"
#include "lang/unicode.h"
#include "lang/words.h"

namespace allot::lang::format {
namespace {

constexpr int step = 2;            // columns a level
constexpr std::size_t columns = 120;

struct Line {
  std::vector<Token> code;
  std::optional<Token> comment;
  bool blank_before = false;
  int indent = 0;
  std::string text;                // of the code, without the indentation
};

struct Bracket {
  char open = '{';
  bool block = false;              // holds statements, so a line may go on where one ended
  int indent = 0;                  // of the line that opened it
};

bool is(const Token& token, std::string_view text) { return token.text == text && token.kind != TokenKind::String; }
bool opens(const Token& token) { return is(token, "(") || is(token, "[") || is(token, "{"); }
bool closes(const Token& token) { return is(token, ")") || is(token, "]") || is(token, "}"); }

// An expression must follow. `?` and `!` are no operators: the type `real?`, and scores of a scenario.
bool awaits(const Token& token) {
  if (token.kind == TokenKind::Word) {
    return joins_operands(token.text) || is_reserved(token.text) || token.text == "by" || token.text == "over";
  }
  return token.kind == TokenKind::Symbol && !closes(token) && !is(token, "?") && !is(token, "!");
}

bool goes_on(const Token& first, const Token& last_before) {
  constexpr std::array<std::string_view, 6> more{"because", "maximizing", "minimizing", "ties", "until", "within"};
  if (!opens(last_before) && last_before.kind == TokenKind::Symbol && awaits(last_before)) return true;
  if (last_before.kind == TokenKind::Word && is_reserved(last_before.text)) return true;
  if (first.kind == TokenKind::Symbol) return !closes(first) && !opens(first);
  return first.kind == TokenKind::Word &&
         (continues_item(first.text) || std::find(more.begin(), more.end(), first.text) != more.end());
}

// ---- blanks within a line

bool is_minus_sign(const std::vector<Token>& line, std::size_t at) {
  if (!is(line[at], "-")) return false;
  if (at == 0 || awaits(line[at - 1]) || opens(line[at - 1])) return true;
  // `by -x`, `set baseline -x`: a word before it may be a value or not; the author has shown which.
  const bool tight = at + 1 < line.size() && line[at + 1].glued;
  return line[at - 1].kind == TokenKind::Word && tight && !line[at].glued;
}

// `then train [0, 1]`, `sample [1, 2] more`, `up to [3, 4]`: words of a verdict after which `[` begins a list, and no
// element of something of that name. By where they begin, ascending.
class ListWords {
 public:
  explicit ListWords(const std::vector<Token>& tokens) {
    for (const Token& token : tokens) {
      if (token.kind == TokenKind::Comment) continue;
      const bool word = token.kind == TokenKind::Word;
      if (word && (begins_action(token) || goes_before_list(token))) found_.push_back(token.span.begin);
      chooses_ = word && token.text == "then" && !open_.empty() && open_.back() == "if";
      if (chooses_ || closes(token)) close(token);
      if (opens(token) || (word && token.text == "if")) open_.push_back(token.text);
      before_ = &token;
    }
  }

  bool contain(const Token& token) const {
    return std::binary_search(found_.begin(), found_.end(), token.span.begin);
  }

 private:
  // At the end of a bracket the choices within it have ended as well.
  void close(const Token& token) {
    while (closes(token) && !open_.empty() && open_.back() == "if") open_.pop_back();
    if (!open_.empty()) open_.pop_back();
  }

  bool begins_action(const Token& token) const {
    if (before_ == nullptr || !is_action_word(token.text)) return false;
    if (!open_.empty() && open_.back() != "{") return false;
    if (is(*before_, "then")) return !chooses_;
    if (is(*before_, "otherwise") || is(*before_, "is") || is(*before_, "{") || is(*before_, ",")) return true;
    return token.lines_before > 0 && !awaits(*before_);
  }

  bool goes_before_list(const Token& token) const {
    if (before_ == nullptr || before_->kind == TokenKind::String) return false;
    if (token.text == "to") return is(*before_, "complete") || is(*before_, "up");
    if (token.text != "where") return false;
    return closes(*before_) || (before_->kind == TokenKind::Word && !awaits(*before_));
  }

  std::vector<std::uint32_t> found_;
  std::vector<std::string_view> open_;  // brackets, and each `if` whose `then` is still to come
  bool chooses_ = false;                // the token before is the `then` of an `if`
  const Token* before_ = nullptr;
};

bool blank_between(const std::vector<Token>& line, std::size_t at, const ListWords& list_words) {
  const Token& before = line[at - 1];
  const Token& token = line[at];
  if (is(before, "{") || is(token, "}")) return !(is(before, "{") && is(token, "}"));
  if (is(before, "(") || is(before, "[") || is(token, ")") || is(token, "]")) return false;
  if (is(token, ",") || is(token, ":") || is(token, ";")) return false;
  if (is(token, "?")) return !token.glued || is(before, ",");  // `real?`, and the unscored `?` of a scenario
  if (is(token, "..") || is(before, "..") || is(token, ".") || is(before, ".")) return false;
  if (token.of_type || (before.of_type && is(before, "<"))) return false;
  if (is_minus_sign(line, at - 1)) return false;
  if (is(token, "[") && list_words.contain(before)) return true;
  if (is(token, "[") && (is(before, "]") || is(before, ")"))) return false;  // an element of it
  const bool after_value = before.kind == TokenKind::Word || is(before, ")") || is(before, "]") || before.of_type;
  if ((is(token, "(") || is(token, "[")) && after_value && token.glued) {
    return before.kind == TokenKind::Word && awaits(before);
  }
  return true;
}

std::string laid_out(const std::vector<Token>& line, const ListWords& list_words) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i > 0 && blank_between(line, i, list_words)) text += ' ';
    text += line[i].text;
  }
  return text;
}

std::string trimmed(std::string_view text) {
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return std::string(text);
}

std::size_t width(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    count += static_cast<std::size_t>(std::max(0, display_width(point.value)));
    at += static_cast<std::size_t>(point.bytes);
  }
  return count;
}

// ---- lines

class Layout {
 public:
  explicit Layout(const std::vector<Token>& tokens) : list_words_(tokens) {
    for (const Token& token : tokens) {
      if (lines_.empty() || token.lines_before > 0) {
        lines_.emplace_back();
        lines_.back().blank_before = token.lines_before > 1 && lines_.size() > 1;
      }
      if (token.kind == TokenKind::Comment) {
        lines_.back().comment = token;
      } else {
        lines_.back().code.push_back(token);
      }
    }
  }

  std::string run() {
    for (Line& line : lines_) {
      if (!line.code.empty()) place(line);
      line.text = laid_out(line.code, list_words_);
    }
    place_comments();
    settle_blanks();
    return written();
  }

 private:
  void place(Line& line) {
    const Token& first = line.code.front();
    if (closes(first) && !open_.empty()) {
      line.indent = open_.back().indent;
    } else {
      line.indent = open_.empty() ? 0 : open_.back().indent + step;
      const bool statements = open_.empty() || open_.back().block;
      if (statements && last_ != nullptr && goes_on(first, *last_)) line.indent += step;
    }
    for (std::size_t i = 0; i < line.code.size(); ++i) {
      const Token& token = line.code[i];
      if (opens(token)) {
        // A block names what it is about before its brace, a record does not: `of group g {`, `= group {`.
        const bool record = i > 0 && (is(line.code[i - 1], "group") || is(line.code[i - 1], "batch"));
        open_.push_back({token.text.front(), is(token, "{") && !record, line.indent});
      } else if (closes(token) && !open_.empty()) {
        open_.pop_back();
      }
    }
    last_ = &line.code.back();
  }

  // A comment on a line of its own stands like the code that follows it; before a closing bracket like what it closes.
  void place_comments() {
    int indent = 0;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      if (line->code.empty()) {
        line->indent = indent;
      } else {
        indent = line->indent + (closes(line->code.front()) ? step : 0);
      }
    }
  }

  static bool is_block_item(const Line& line) {
    if (line.code.empty() || line.indent > 0) return false;
    const Token& first = line.code.front();
    return is(first, "on") || is(first, "test") || is(first, "scenario");
  }

  void settle_blanks() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const bool opened = i > 0 && lines_[i - 1].code.size() > 0 && opens(lines_[i - 1].code.back());
      const bool closing = !lines_[i].code.empty() && closes(lines_[i].code.front());
      if (i == 0 || opened || closing) lines_[i].blank_before = false;
      if (!is_block_item(lines_[i])) continue;
      std::size_t top = i;  // its comments belong to it
      while (top > 0 && !lines_[top].blank_before && lines_[top - 1].code.empty()) --top;
      if (top > 0) lines_[top].blank_before = true;
    }
  }

  // Where the comments after the code of a run of lines begin.
  std::size_t comment_column(std::size_t from, std::size_t to) const {
    std::size_t column = 0;
    for (std::size_t i = from; i < to; ++i) {
      column = std::max(column, static_cast<std::size_t>(lines_[i].indent) + width(lines_[i].text) + 2);
    }
    return column;
  }

  bool ends_in_comment(std::size_t i) const {
    return i < lines_.size() && lines_[i].comment && !lines_[i].code.empty();
  }

  std::string written() const {
    std::string result;
    std::size_t column = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      if (line.blank_before) result += '\n';
      std::string text(static_cast<std::size_t>(line.indent), ' ');
      text += line.text;
      if (line.comment) {
        if (ends_in_comment(i) && (i == 0 || !ends_in_comment(i - 1) || line.blank_before)) {
          std::size_t end = i + 1;
          while (ends_in_comment(end) && !lines_[end].blank_before) ++end;
          column = comment_column(i, end);
        }
        const std::string comment = trimmed(line.comment->text);
        if (!line.code.empty()) {
          const std::size_t now = width(text);
          const bool fits = column + width(comment) <= columns;
          text.append(fits ? column - now : 2, ' ');
        }
        text += comment;
      }
      result += trimmed(text) + '\n';
    }
    return result;
  }

  ListWords list_words_;
  std::vector<Line> lines_;
  std::vector<Bracket> open_;
  const Token* last_ = nullptr;
};

// Layout apart, the same text.
bool same_tokens(const Source& before, const Source& after) {
  const std::vector<Token> left = tokens(before), right = tokens(after);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Token& a, const Token& b) {
    return a.kind == b.kind && (a.kind == TokenKind::Comment ? trimmed(a.text) == trimmed(b.text) : a.text == b.text);
  });
}

}  // namespace

std::optional<std::string> format(const Source& source, Diagnostics& diagnostics) {
  const auto tree = parse(source, diagnostics);
  if (!tree || diagnostics.has_errors()) return std::nullopt;
  std::string text = Layout(tokens(source)).run();
  const Source formatted(source.name(), text);
  Diagnostics again;
  // What is not known to mean the same is not given out.
  if (!same_tokens(source, formatted) || !parse(formatted, again) || again.has_errors()) {
    return std::string(source.text());
  }
  return text;
}

}  // namespace allot::lang::format
