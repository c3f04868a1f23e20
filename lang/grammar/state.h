// What the grammar works on: the text, the arena it fills, and how far it came. Plain C++, so that tokens compile once.
//
// Every token function skips blanks and comments, then matches or leaves `first` where it was. A failure notes what was
// wanted and where; the message for a failed item is made from the furthest such place, never from what Spirit knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostics.h"
#include "lang/source.h"
#include "lang/tree.h"

namespace allot::lang::grammar {

using Iterator = const char*;

// An item that cannot go on, with a message of its own. Caught where the item was begun.
struct Refused {
  Diagnostic diagnostic;
};

struct Symbol {  // an operator where it stands
  std::string op;
  Span span;
};

class State {
 public:
  State(const Source& source, tree::File& tree) : source_(source), tree_(tree) {}

  // ---- tokens

  // The very word, not a longer one. `wanted` false: an alternative whose absence is not worth a message.
  bool word(Iterator& first, Iterator last, std::string_view text, bool wanted);
  bool mark(Iterator& first, Iterator last, std::string_view text, bool wanted);
  bool span_of_mark(Iterator& first, Iterator last, std::string_view text, Span& span);
  bool one_of(Iterator& first, Iterator last, const std::vector<std::string>& words, std::string_view what,
              tree::Name& found);
  bool name(Iterator& first, Iterator last, std::string_view what, tree::Name& found);      // not a reserved word
  bool any_name(Iterator& first, Iterator last, std::string_view what, tree::Name& found);  // after a dot, a label
  bool dotted_name(Iterator& first, Iterator last, std::string_view what, tree::Name& found);  // team.gates
  bool operand_name(Iterator& first, Iterator last, tree::Name& found);  // as `name`, but its absence is not noted
  bool label(Iterator& first, Iterator last, std::string& found);        // NAME ':'
  bool record_name(Iterator& first, Iterator last, std::string& found);  // group, batch, … before '{'
  bool number(Iterator& first, Iterator last, tree::Expr& found);        // integer, real, percent; with its unit
  bool score(Iterator& first, Iterator last, tree::Expr& found);         // of a scenario: a number, the next word is left
  bool integer(Iterator& first, Iterator last, tree::Expr& found);       // digits alone; a unit's word is left
  bool size_number(Iterator& first, Iterator last, std::string& found);  // the 3 of vec<real, 3>
  bool prefix(Iterator& first, Iterator last, Symbol& found);
  bool infix(Iterator& first, Iterator last, Symbol& found);
  bool undefined_test(Iterator& first, Iterator last, Symbol& found);  // op: "is undefined" | "is not undefined"
  bool dot(Iterator& first, Iterator last);                            // not the first of `..`

  // Inside a string nothing is skipped.
  bool text_piece(Iterator& first, Iterator last, std::string& found);
  bool hole_begin(Iterator& first, Iterator last);
  bool string_end(Iterator& first, Iterator last);

  // ---- looks ahead; nothing is consumed

  bool value_here(Iterator first, Iterator last, std::string_view what);  // notes `what` where no value can begin
  bool action_here(Iterator first, Iterator last);
  bool subset_here(Iterator first, Iterator last);    // after `train`: neither its end nor the next statement
  bool decision_here(Iterator first, Iterator last);  // turn(g) is …  ·  turn(g) because …
  bool timed_decision_here(Iterator first, Iterator last);  // the same of a scenario: wave 2 (a) is …
  bool fate_here(Iterator first, Iterator last);            // a is dropped

  // ---- wants

  // Notes that `what` is missing here; `words` are what a misspelt word may have meant.
  void want(Iterator first, Iterator last, std::string_view what, const std::vector<std::string>& words = {});
  // The message for the item that ends at `last`, of which `first` was read.
  Diagnostic explain(Iterator first, Iterator last) const;
  // Refuses the item where this thread's stack has no room for a level more.
  void check_stack(Iterator first, Iterator last) const;
  // Levels of what nests without a bracket that the scanner counts: types in types. Refuses the item beyond the limit.
  void enter_level(Iterator first, Iterator last);
  void leave_level() { --levels_; }

  // ---- tree

  tree::ExprId add(tree::Expr expr);
  const tree::Expr& at(tree::ExprId id) const { return tree_[id]; }
  tree::File& tree() { return tree_; }
  Span span(Iterator first, Iterator last) const { return {offset(first), offset(last)}; }
  std::uint32_t offset(Iterator at) const { return static_cast<std::uint32_t>(at - source_.text().data()); }
  std::string_view text(Span span) const;
  Iterator skip(Iterator first, Iterator last) const;
  [[noreturn]] void refuse(std::string code, Span span, std::string message, std::string help = {}) const;

 private:
  bool bare_number(Iterator& first, Iterator last, tree::Expr& found);

  struct Want {
    std::string what;
    std::vector<std::string> words;
  };

  std::string_view word_at(Iterator first, Iterator last) const;
  std::string_view token_at(Iterator first, Iterator last) const;
  void check_number(const tree::Expr& number) const;
  std::string wanted_text() const;
  bool wanted(std::string_view part) const;  // something whose words hold `part`
  std::string near_word(std::string_view found) const;
  std::string help_for(std::string_view found, bool assigned = false) const;

  const Source& source_;
  tree::File& tree_;
  Iterator furthest_ = nullptr;     // after the blanks
  Iterator end_of_last_ = nullptr;  // before them: the end of the token that was read last
  std::vector<Want> wants_;
  int levels_ = 0;
};

// 2^63 can stand under a minus only.
inline constexpr std::string_view least_int_digits = "9223372036854775808";

}  // namespace allot::lang::grammar
