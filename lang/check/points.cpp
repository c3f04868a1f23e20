#include "lang/check/points.h"

namespace allot::lang::checker {

using tree::ActionKind;

const std::vector<PointRow>& points() {
  static const std::vector<PointRow> rows{
      {"size", Point::Size, "batch", false, true, {ActionKind::Start}, false},
      {"turn", Point::Turn, "group", true, true, {ActionKind::Continue, ActionKind::Stop, ActionKind::StopWhere}, true},
      {"result",
       Point::Result,
       "group",
       false,
       true,
       {ActionKind::Continue, ActionKind::Stop, ActionKind::SampleMore, ActionKind::CompleteTo},
       true},
      {"wave",
       Point::Wave,
       "group",
       true,
       true,
       {ActionKind::SampleMore, ActionKind::CompleteTo, ActionKind::Stop},
       true},
      {"finish", Point::Finish, "group", false, true, {}, true},
      {"update", Point::Update, "batch", false, false, {}, false},
      {"select", Point::Select, "", false, true, {}, false},
      {"resume", Point::Resume, "", false, true, {}, false},
      {"expand", Point::Expand, "", false, true, {}, false},
      {"score", Point::Score, "", false, true, {}, false},
      {"shape", Point::Shape, "", false, true, {}, false},
      {"replay", Point::Replay, "", false, true, {}, false},
      {"loss", Point::Loss, "", false, true, {}, false},
      {"epoch", Point::Epoch, "", false, false, {}, false},
  };
  return rows;
}

const PointRow* find_point(std::string_view name) {
  for (const PointRow& row : points()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Field field(ActionKind kind) {
  switch (kind) {
    case ActionKind::Continue:
    case ActionKind::Stop:
    case ActionKind::StopWhere:
    case ActionKind::SampleMore:
    case ActionKind::CompleteTo:
    case ActionKind::Start:
    case ActionKind::Branch:
      return Field::Rollouts;
    case ActionKind::Train:
    case ActionKind::Drop:
    case ActionKind::Defer:
      return Field::Group;
    case ActionKind::Refill:
    case ActionKind::Leave:
      return Field::Slot;
    case ActionKind::Evict:
    case ActionKind::Readmit:
      return Field::Prompt;
    case ActionKind::Take:
    case ActionKind::Set:
    case ActionKind::Replay:
      return Field::Answer;
  }
  return Field::Answer;
}

std::string_view words(Field field) {
  switch (field) {
    case Field::Rollouts:
      return "what becomes of the rollouts";
    case Field::Group:
      return "what becomes of the group";
    case Field::Slot:
      return "what becomes of the slot";
    case Field::Prompt:
      return "what becomes of the prompt";
    case Field::Answer:
      return "the answer";
  }
  return "";
}

std::string_view words(ActionKind kind) {
  switch (kind) {
    case ActionKind::Continue:
      return "continue";
    case ActionKind::Stop:
      return "stop";
    case ActionKind::StopWhere:
      return "stop where";
    case ActionKind::SampleMore:
      return "sample N more";
    case ActionKind::CompleteTo:
      return "complete to M";
    case ActionKind::Start:
      return "start N each";
    case ActionKind::Branch:
      return "branch";
    case ActionKind::Train:
      return "train";
    case ActionKind::Drop:
      return "drop";
    case ActionKind::Defer:
      return "defer";
    case ActionKind::Refill:
      return "refill";
    case ActionKind::Leave:
      return "leave";
    case ActionKind::Evict:
      return "evict";
    case ActionKind::Readmit:
      return "readmit";
    case ActionKind::Take:
      return "take";
    case ActionKind::Set:
      return "set";
    case ActionKind::Replay:
      return "replay";
  }
  return "";
}

bool runs_later(ActionKind kind) {
  switch (kind) {
    case ActionKind::Branch:
    case ActionKind::Defer:
    case ActionKind::Evict:
    case ActionKind::Readmit:
    case ActionKind::Take:
    case ActionKind::Set:
    case ActionKind::Replay:
      return true;
    default:
      return false;
  }
}

}  // namespace allot::lang::checker
