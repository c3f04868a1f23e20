// A policy's text as tokens, comments among them: what a formatter and an editor need, who must not lose a byte.
//
// The grammar reads characters and knows no tokens; these agree with it on every text that it accepts.
#pragma once

#include <string_view>
#include <vector>

#include "lang/source.h"

namespace allot::lang::format {

enum class TokenKind {
  Word,     // a name or a keyword
  Number,   // with its '%'; the unit after it is a Word
  String,   // from quote to quote, holes and all
  Symbol,   // an operator, a bracket, punctuation: the longest that fits
  Comment   // from '#', without the line end
};

struct Token {
  TokenKind kind = TokenKind::Word;
  Span span;
  std::string_view text;  // into the source
  int lines_before = 0;   // line ends between it and the token before
  bool glued = false;     // nothing stands between it and the token before
  bool of_type = false;   // a bracket of `vec<real, 3>`, which compares nothing
};

// With `holes`, the tokens inside a string's holes follow the string itself.
std::vector<Token> tokens(const Source& source, bool holes = false);

}  // namespace allot::lang::format
