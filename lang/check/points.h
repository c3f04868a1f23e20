// The decision points: who is asked, and what may be answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/facts.h"
#include "lang/tree.h"

namespace allot::lang::checker {

struct PointRow {
  std::string_view name;
  Point point;
  std::string_view subject;                // "group" or "batch"; empty: later versions run this point
  bool number;                             // `turn N`, `wave N`
  bool rules;                              // answers with rules; a barrier does not
  std::vector<tree::ActionKind> rollouts;  // what may stand in the rollouts field
  bool fate;                               // group and slot fields may be set
};

const std::vector<PointRow>& points();
const PointRow* find_point(std::string_view name);

enum class Field { Rollouts, Group, Slot, Prompt, Answer };
Field field(tree::ActionKind kind);
std::string_view words(Field field);
std::string_view words(tree::ActionKind kind);  // "sample more", "stop where"
bool runs_later(tree::ActionKind kind);         // of a later version

}  // namespace allot::lang::checker
