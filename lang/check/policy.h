// What all parts of the checker share: the tree, the program being made, the names of the file, and the mistakes found.
//
// A part that cannot go on returns `poison`; whoever gets poison says nothing more, so one mistake gives one message.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/check/names.h"
#include "lang/diagnostics.h"
#include "lang/program.h"
#include "lang/tree.h"

namespace allot::lang::checker {

inline constexpr NodeId poison = -1;

struct Policy {
  const Source& source;
  const tree::File& tree;
  Program& program;
  Diagnostics& diagnostics;
  Names names;

  bool unread = false;               // items of the file could not be read: what is missing may stand in them
  int nodes = 0;                     // typed nodes so far, of all handlers
  bool too_large = false;            // said once
  std::optional<Span> unnamed_draw;  // where `draw()` stands
  std::optional<Span> first_refill;  // where `refill` is answered first
  std::set<std::string> told;
  std::vector<char> broken_functions;  // by index into tree.functions: calls give poison
  int body_nodes = 0;                  // typed nodes of all functions, each checked by itself
  std::optional<Span> first_defer = std::nullopt;    // where `defer` is answered first
  std::optional<Span> open_eviction = std::nullopt;  // where `evict` is answered that says no end
  bool readmits = false;                             // `readmit` is answered somewhere

  // True the first time: the same mistake about the same thing is told once.
  bool first_time(std::string_view code, std::string_view thing);

  void error(std::string code, Span span, std::string message, std::string label = {}, std::string help = {},
             std::vector<Context> contexts = {});
  void warning(std::string code, Span span, std::string message, std::string label = {}, std::string help = {},
               std::vector<Context> contexts = {});
  // E0007, once; what was asked for is poison.
  NodeId too_deep_for_stack(Span span);

  std::string place(Span span) const;  // "3:9"
  std::string text(Span span) const;   // source text on one line
  // The same without brackets around the whole.
  std::string text(tree::ExprId id) const { return text(inside(tree[id].span)); }
  Span inside(Span span) const;

  // For what a help offers: the variable that stands for such a subject here, or the letter that is usual; whose a state
  // is that is kept per prompt or per category.
  std::string variable(Subject subject) const;
  std::string owner(std::string_view per) const;
};

// " (did you mean `x`?)" as a help text, or empty.
std::string near_help(std::string_view name, const std::vector<std::string>& candidates);
// Warns where a parameter, state, let or variable has the name of a built-in function.
void warn_of_builtin_name(Policy& policy, const std::string& name, Span span, std::string_view kind);
std::string quoted(std::string_view text);
std::string with_article(std::string_view noun);  // "a let", "an argument"

}  // namespace allot::lang::checker
