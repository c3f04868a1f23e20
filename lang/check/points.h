// The decision points: who is asked, and what may be answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/facts.h"
#include "lang/tree.h"

namespace allot::lang::checker {

// One point asked of one kind of subject.
struct PointRow {
  std::string_view name;     // as an author writes it; `every N tokens` is "tokens"
  Point point;
  Subject subject;
  std::string_view word;     // of the subject: "group", "micro_batch"
  std::string_view example;  // `on wave of group g`
  bool number;               // `turn N`, `wave N`, `every N tokens`
  std::vector<tree::ActionKind> actions;  // what a rule may say; none: a barrier that decides nothing
};

const std::vector<PointRow>& points();
// The rows of one point: more than one where it may be asked of several subjects.
std::vector<const PointRow*> find_points(std::string_view name);
bool barrier(Point point);  // state per prompt, category and run is written here

enum class Field { Rollouts, Group, Slot, Prompt, Answer };
Field field(tree::ActionKind kind);
std::string_view words(Field field);
std::string_view words(tree::ActionKind kind);  // "sample more", "stop where"

}  // namespace allot::lang::checker
