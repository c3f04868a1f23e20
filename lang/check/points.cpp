#include "lang/check/points.h"

namespace allot::lang::checker {

using tree::ActionKind;

namespace {

std::vector<ActionKind> with_fate(std::vector<ActionKind> rollouts) {
  rollouts.insert(rollouts.end(), {ActionKind::Train, ActionKind::Drop, ActionKind::Refill, ActionKind::Leave,
                                   ActionKind::Evict, ActionKind::Readmit});
  return rollouts;
}

}  // namespace

const std::vector<PointRow>& points() {
  using enum ActionKind;
  static const std::vector<PointRow> rows{
      {"select", Point::Select, Subject::Pool, "pool", "on select of pool p", false, {Take}},
      {"size", Point::Size, Subject::Batch, "batch", "on size of batch b", false, {Start}},
      {"turn", Point::Turn, Subject::Group, "group", "on turn 10 of group g", true,
       with_fate({Continue, Stop, StopWhere})},
      {"turn", Point::Turn, Subject::Rollout, "rollout", "on every turn of rollout r", true, {Continue, Stop, Branch}},
      {"tokens", Point::Tokens, Subject::Rollout, "rollout", "on every 256 tokens of rollout r", true,
       {Continue, Stop, Branch}},
      {"result", Point::Result, Subject::Group, "group", "on result of group g", false,
       with_fate({Continue, Stop, SampleMore, CompleteTo})},
      {"wave", Point::Wave, Subject::Group, "group", "on wave of group g", true,
       with_fate({SampleMore, CompleteTo, Stop, Defer})},
      {"wave", Point::Wave, Subject::Batch, "batch", "on wave of batch b", true, {SampleMore, CompleteTo, Stop}},
      {"finish", Point::Finish, Subject::Group, "group", "on finish of group g", false, with_fate({})},
      {"resume", Point::Resume, Subject::Group, "group", "on resume of group g by g.age", false,
       with_fate({CompleteTo})},
      {"expand", Point::Expand, Subject::Batch, "batch", "on expand of batch b", false, {Branch}},
      {"score", Point::Score, Subject::Rollout, "rollout", "on score of rollout r", false, {Set}},
      {"shape", Point::Shape, Subject::Group, "group", "on shape of group g", false, {Set}},
      {"shape", Point::Shape, Subject::MicroBatch, "micro_batch", "on shape of micro_batch b", false, {Set}},
      {"loss", Point::Loss, Subject::Token, "token", "on loss of token t", false, {Set}},
      {"replay", Point::Replay, Subject::Batch, "batch", "on replay of batch b", false, {Replay}},
      {"update", Point::Update, Subject::Batch, "batch", "on update of batch b", false, {}},
      {"update", Point::Update, Subject::Pool, "pool", "on update of pool p", false, {}},
      {"epoch", Point::Epoch, Subject::Pool, "pool", "on epoch of pool p", false, {Evict, Readmit}},
  };
  return rows;
}

std::vector<const PointRow*> find_points(std::string_view name) {
  std::vector<const PointRow*> found;
  for (const PointRow& row : points()) {
    if (row.name == name) found.push_back(&row);
  }
  return found;
}

bool barrier(Point point) {
  return point == Point::Update || point == Point::Epoch;
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
      return "branch K";
    case ActionKind::Train:
      return "train";
    case ActionKind::Drop:
      return "drop";
    case ActionKind::Defer:
      return "defer at most N iterations";
    case ActionKind::Refill:
      return "refill";
    case ActionKind::Leave:
      return "leave";
    case ActionKind::Evict:
      return "evict until E";
    case ActionKind::Readmit:
      return "readmit";
    case ActionKind::Take:
      return "take N";
    case ActionKind::Set:
      return "set …";
    case ActionKind::Replay:
      return "replay up to N by KEY, max_age A";
  }
  return "";
}

}  // namespace allot::lang::checker
