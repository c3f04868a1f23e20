// What the lines of a session mean: declarations and `let`s are kept, an expression is worked out with them.
//
// An expression is checked as part of a policy that holds all that was declared, inside a handler of `finish`, so it
// means what it would mean there. The group that it may ask about is the one that was `given` last.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allot::repl {

struct Reply {
  std::string text;      // to be printed; empty where a declaration was taken in
  bool failed = false;   // the text is about a mistake
  bool quit = false;
};

class Session {
 public:
  // Whether the text goes on in the next line: a bracket is open.
  static bool unfinished(std::string_view text);

  Reply line(const std::string& text);

  // Names that can be completed from these letters; after a dot, facts.
  std::vector<std::string> completions(std::string_view before) const;

 private:
  struct Piece {
    std::string word;   // "let", "param", …
    std::string name;
    std::string text;
  };
  struct Written {
    std::string text;
    std::size_t begin = 0;  // of the line within it
  };

  static std::vector<std::string> states_of(const std::vector<Piece>& pieces);
  Written policy(const std::vector<Piece>& pieces, const std::string& expression, std::size_t shown) const;
  Reply declare(Piece piece);
  Reply value(const std::string& expression) const;
  Reply command(std::string_view words);
  Reply load(const std::string& path);

  std::vector<Piece> pieces_;  // in order; a name that is declared again replaces the former
};

}  // namespace allot::repl
