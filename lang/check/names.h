// Names and what they stand for. Values and functions live apart: a parameter may be called `size` beside `size(v)`.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/program.h"

namespace allot::lang::checker {

enum class Meaning {
  Value,    // a node to copy at each use: parameter, let, argument, element of a vector
  State,    // index into Program::states
  Subject,  // the handler's `g` or `b`, or the variable of a comprehension over groups or rollouts
  Poison    // declared, but with a mistake
};

struct Binding {
  Meaning meaning = Meaning::Value;
  std::string kind;  // "parameter", "let", "state", "variable": for messages
  std::string name;
  Span span;
  int id = 0;      // unique in the policy
  Node node;       // Value
  int state = -1;  // State
  Subject subject = Subject::Group;
  Scope scope = Scope::Single;  // Subject: Single is the handler's own, else element of `loop` over this scope
  int loop = -1;
  bool placed = false;          // Subject: `loop` walks places in the scope, in an order of its own, not the scope itself
  bool used = false;
  bool implied = false;         // not written by the author: `q` of `take … by`; another may take the name
  std::optional<Span> relies_on;  // a let that holds only where an earlier rule did not answer: that rule's condition
};

// A binding of meaning Value with nothing in it yet.
Binding value_binding(const tree::Name& name, std::string kind);

// Frames of names. A function's body sees its arguments and the file's names, not the caller's.
class Names {
 public:
  Names() : frames_(1) {}

  Binding* find(std::string_view name);
  Binding* declare(Binding binding);  // into the innermost frame; the caller has looked for clashes
  // A sealed frame sees nothing outside itself: the body of a function of another file.
  void enter(bool function_body, bool sealed = false) { frames_.push_back({function_body, sealed, {}}); }
  void leave() { frames_.pop_back(); }
  bool outermost() const { return frames_.size() == 1; }

  std::vector<std::string> visible() const;
  const Binding* innermost(Subject subject) const;  // a variable that stands for one; null where there is none
  const std::deque<Binding>& all() const { return bindings_; }

  std::map<std::string, int, std::less<>> functions;  // index into tree::File::functions
  std::vector<char> function_used;

 private:
  struct Frame {
    bool function_body = false;
    bool sealed = false;
    std::map<std::string, Binding*, std::less<>> names;
  };
  template <typename Visit>
  void walk(Visit visit) const;

  std::deque<Binding> bindings_;  // addresses stay
  std::vector<Frame> frames_;
};

}  // namespace allot::lang::checker
