#include "lang/check/handlers.h"

#include <algorithm>
#include <utility>

#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

// The row of a handler that this version runs; null after an error.
const PointRow* runnable(Policy& policy, const tree::Handler& handler) {
  if (handler.point == "tokens") {  // `every N tokens`: no point of its own, but a handler that would never be asked
    policy.not_yet(handler.point_span, "`every … tokens`");
    return nullptr;
  }
  const PointRow* const row = find_point(handler.point);
  if (!row) return nullptr;  // the parser knows the points too, and has said so
  if (row->subject.empty()) {
    policy.not_yet(handler.point_span, "the point " + quoted(handler.point));
    return nullptr;
  }
  const bool in_the_language = (handler.point == "turn" && handler.subject == "rollout") ||
                               (handler.point == "wave" && handler.subject == "batch") ||
                               (handler.point == "update" && handler.subject == "pool");
  if (in_the_language) {
    policy.not_yet(handler.point_span, quoted(handler.point + " of " + handler.subject));
    return nullptr;
  }
  if (handler.subject != row->subject) {
    policy.error(
        "E0303", handler.point_span,
        quoted(handler.point) + " is asked of a " + std::string(row->subject) + ", not of a " + handler.subject, "",
        "write `on " + handler.point + " of " + std::string(row->subject) + " " +
            (row->subject == "group" ? "g" : "b") + "`");
    return nullptr;
  }
  if (handler.every && handler.point != "turn") {
    policy.error("E0303", handler.point_span, "`every` belongs to `turn`", "", "write `on " + handler.point + " of …`");
    return nullptr;
  }
  if (!row->number && handler.number != tree::none) {
    policy.error("E0303", policy.tree[handler.number].span, quoted(handler.point) + " has no number", "",
                 "only `turn N` and `wave N` have one");
    return nullptr;
  }
  if (handler.point == "turn" && !handler.every && handler.number == tree::none) {
    policy.error("E0303", handler.point_span, "which turn?", "",
                 "write `on turn 10 of group g`, or `on every turn of group g`");
    return nullptr;
  }
  return row;
}

// Group and batch handlers of one point cannot both answer. True where that was said.
bool mixed_subjects(Policy& policy, std::size_t index) {
  const tree::Handler& handler = policy.tree.handlers[index];
  for (std::size_t i = 0; i < index; ++i) {
    const tree::Handler& earlier = policy.tree.handlers[i];
    if (earlier.point != handler.point || earlier.subject == handler.subject) continue;
    const bool both = (earlier.subject == "group" || earlier.subject == "batch") &&
                      (handler.subject == "group" || handler.subject == "batch");
    if (!both || handler.point != "wave") continue;
    policy.error("E0309", handler.point_span, "one point is asked of groups or of the batch, not of both", "",
                 "keep one of the two", {{earlier.point_span, "here it is asked of a " + earlier.subject}});
    return true;
  }
  return false;
}

bool same_place(const Handler& a, const Handler& b) {
  return a.point == b.point && a.subject == b.subject && a.every == b.every && a.number == b.number;
}

}  // namespace

void check_handlers(Policy& policy) {
  std::vector<std::pair<Handler, Span>> known;  // without their rules: point, subject and number
  for (std::size_t i = 0; i < policy.tree.handlers.size(); ++i) {
    const tree::Handler& handler = policy.tree.handlers[i];
    if (mixed_subjects(policy, i)) continue;
    const PointRow* const row = runnable(policy, handler);
    if (!row) continue;
    Handler place;
    place.point = row->point;
    place.subject = row->subject == "batch" ? Subject::Batch : Subject::Group;
    place.every = handler.every;
    if (handler.number != tree::none) {
      Builder builder(policy);
      Expressions expressions(policy, builder, Where{});
      const bool turn = row->point == Point::Turn;
      place.number = expressions.read_argument(handler.number, turn ? BaseUnit::Turns : BaseUnit::Groups, turn, false,
                                               turn ? "N of `turn N`" : "N of `wave N`");
      if (!place.number) continue;
    }
    Handler checked = HandlerChecker(policy, handler, *row).check();
    checked.number = place.number;
    const auto twin =
        std::find_if(known.begin(), known.end(), [&](const auto& other) { return same_place(other.first, place); });
    if (twin != known.end()) {
      policy.error("E0308", handler.point_span, "two handlers for one point", "", "join their rules into one handler",
                   {{twin->second, "the first one"}});
      continue;
    }
    known.emplace_back(std::move(place), handler.point_span);
    policy.program.handlers.push_back(std::move(checked));
  }
  if (policy.first_refill && policy.tree.refills.empty() && !policy.unread) {
    policy.error("E0402", *policy.first_refill, "a refill that can go on for ever", "asks for fresh prompts",
                 "add  refill at most 10 rounds then train_partial");
  }
}

}  // namespace allot::lang::checker
