#include "lang/format/tokens.h"

#include <algorithm>
#include <array>

#include "common/stack.h"
#include "lang/limits.h"
#include "lang/words.h"

namespace allot::lang::format {
namespace {

class Reader {
 public:
  Reader(std::string_view text, bool holes) : text_(text), holes_(holes) {}

  std::vector<Token> run() {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) at_ = end_of_last_ = byte_order_mark.size();
    read_to(text_.size());
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void read_to(std::size_t end) {
    while (at_ < end) {
      const char c = peek();
      if (is_blank(c)) {
        lines_ += c == '\n' || (c == '\r' && peek(1) != '\n');
        ++at_;
        continue;
      }
      const std::size_t begin = at_;
      const TokenKind kind = advance(c);
      add(kind, begin);
      if (kind == TokenKind::String && holes_ && depth_ < limits.depth && !stack_ends()) read_holes(begin + 1, at_);
    }
  }

  void add(TokenKind kind, std::size_t begin) {
    const Span span{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
    tokens_.push_back({kind, span, text_.substr(begin, at_ - begin), lines_, begin == end_of_last_, of_type_});
    end_of_last_ = at_;
    lines_ = 0;
    of_type_ = false;
    follow_declarations();
  }

  std::string_view back(std::size_t count) const {
    return count <= tokens_.size() ? tokens_[tokens_.size() - count].text : std::string_view();
  }

  // Types stand in declarations, before their `=`; elsewhere `vec` is a name, and `<` compares.
  void follow_declarations() {
    const Token& token = tokens_.back();
    const auto among = [](std::string_view word, const auto& words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    constexpr std::array<std::string_view, 5> declaring{"param", "state", "input", "fn", "migrate"};
    if (token.kind == TokenKind::Symbol) {
      const bool opens = token.text == "(" || token.text == "[" || token.text == "{";
      const bool closes = token.text == ")" || token.text == "]" || token.text == "}";
      if (opens) ++brackets_;
      if (closes && brackets_ > 0) --brackets_;
      if (token.text == "=") declares_ = false;
    } else if (token.kind == TokenKind::Word && brackets_ == 0) {
      const bool its_name = declares_ && among(back(2), declaring);
      if (!its_name && is_item_word(token.text)) declares_ = among(token.text, declaring);
    }
    if (!declares_) types_ = 0;
  }

  TokenKind advance(char c) {
    if (c == '#') {
      while (at_ < text_.size() && peek() != '\n' && peek() != '\r') ++at_;
      return TokenKind::Comment;
    }
    if (is_name_start(c)) {
      while (is_name_char(peek())) ++at_;
      return TokenKind::Word;
    }
    if (is_digit(c)) return number();
    if (c == '"') return string();
    if (c == '<' && begins_type()) {
      if (types_ == 0) around_types_ = brackets_;
      ++types_;
      of_type_ = true;
      return ++at_, TokenKind::Symbol;
    }
    if (c == '>' && types_ > 0 && brackets_ == around_types_) {  // `-> vec<real, 2>=[1, 2]`
      --types_;
      of_type_ = true;
      return ++at_, TokenKind::Symbol;
    }
    constexpr std::array<std::string_view, 7> pairs{"->", "<=", ">=", "==", "!=", "??", ".."};
    for (const std::string_view pair : pairs) {
      if (text_.substr(at_, 2) == pair) return at_ += 2, TokenKind::Symbol;
    }
    ++at_;
    // The rest of a character outside ASCII stays with its first byte.
    while (static_cast<unsigned char>(c) >= 0x80 && (static_cast<unsigned char>(peek()) & 0xC0) == 0x80) ++at_;
    return TokenKind::Symbol;
  }

  // `: vec`, `-> mat`, `from vec`, and `vec<vec`: what follows is no comparison.
  bool begins_type() const {
    if (!declares_ || (back(1) != "vec" && back(1) != "mat")) return false;
    const bool inner = types_ > 0 && (back(2) == "<" || back(2) == ",");
    return inner || back(2) == ":" || back(2) == "->" || back(2) == "from";
  }

  TokenKind number() {
    const auto digits = [&] {
      while (is_digit(peek()) || peek() == '_') ++at_;
    };
    digits();
    if (peek() == '.' && is_digit(peek(1))) ++at_, digits();
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) at_ += sign, digits();
    while (is_name_char(peek())) ++at_;  // `10turns`, which the grammar refuses, stays together
    if (peek() == '%') ++at_;
    return TokenKind::Number;
  }

  // To the closing quote, or to the end of the line; a hole may hold strings of its own, however deep.
  TokenKind string() {
    std::vector<int> open{0};  // holes of the string at hand, and of those around it
    for (++at_; at_ < text_.size() && peek() != '\n' && peek() != '\r'; ++at_) {
      const char c = peek();
      int& holes = open.back();
      if (holes == 0 && c == '\\' && peek(1) != '\n' && peek(1) != '\r') {
        ++at_;
      } else if (holes == 0 && (c == '{' || c == '}') && peek(1) == c) {
        ++at_;
      } else if (c == '{') {
        ++holes;
      } else if (c == '}' && holes > 0) {
        --holes;
      } else if (c == '"' && holes > 0) {
        open.push_back(0);
      } else if (c == '"') {
        open.pop_back();
        if (open.empty()) return ++at_, TokenKind::String;
      }
    }
    return TokenKind::String;
  }

  // Deeper than the grammar goes, a string stays whole.
  void read_holes(std::size_t begin, std::size_t end) {
    ++depth_;
    for (std::size_t i = begin; i < end; ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if ((text_[i] == '{' || text_[i] == '}') && i + 1 < end && text_[i + 1] == text_[i]) {
        ++i;
      } else if (text_[i] == '{') {
        i = read_hole(i + 1, end);
      }
    }
    --depth_;
    at_ = end_of_last_ = end;
  }

  // Gives the place of the hole's closing brace.
  std::size_t read_hole(std::size_t begin, std::size_t end) {
    at_ = end_of_last_ = begin;
    int open = 0;
    while (at_ < end) {
      const char c = peek();
      if (c == '}' && open == 0) return at_;
      open += c == '{';
      open -= c == '}';
      read_to(at_ + 1);
    }
    return end;
  }

  std::string_view text_;
  bool holes_;
  std::size_t at_ = 0;
  std::size_t end_of_last_ = 0;
  int lines_ = 0;
  int types_ = 0;          // whose brackets are open
  int around_types_ = 0;   // other brackets around them
  int brackets_ = 0;       // others that are open
  bool declares_ = false;  // a declaration has begun, and its `=` is still to come
  bool of_type_ = false;   // the token at hand
  int depth_ = 0;  // of strings within holes of strings
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens(const Source& source, bool holes) { return Reader(source.text(), holes).run(); }

}  // namespace allot::lang::format
