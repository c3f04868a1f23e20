#include "lang/check/handlers.h"

#include <algorithm>
#include <utility>

#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

std::string list_of(const std::vector<const PointRow*>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += (i == 0 ? "a " : i + 1 == rows.size() ? " or a " : ", a ") + std::string(rows[i]->word);
  }
  return text;
}

bool numbered(const tree::Handler& handler) {
  return handler.number != tree::none || handler.every;
}

// What stands around the name of the point: `every`, N, `by KEYS`, `ahead: run`. False after an error.
bool well_formed(Policy& policy, const tree::Handler& handler, const PointRow& row) {
  const std::string example = "write `" + std::string(row.example) + "`";
  const auto wrong = [&](Span span, const std::string& message, const std::string& help) {
    policy.error("E0303", span, message, "", help);
    return false;
  };
  if (handler.every && row.point != Point::Turn && row.point != Point::Tokens) {
    return wrong(handler.point_span, "`every` belongs to `turn`", example);
  }
  if (!row.number && handler.number != tree::none) {
    return wrong(policy.tree[handler.number].span, quoted(handler.point) + " has no number",
                 "only `turn N` and `wave N` have one");
  }
  if (row.point == Point::Turn && !numbered(handler)) {
    return wrong(handler.point_span, "which turn?", "write `on turn 10 of group g`, or `on every turn of group g`");
  }
  if (row.point == Point::Turn && row.subject == Subject::Rollout && !handler.every) {
    return wrong(handler.point_span, "a rollout is asked after every turn",
                 example + ", and in it `when " + handler.variable.text + ".turns == 10 then …`");
  }
  if (!handler.keys.empty() && row.point != Point::Resume) {
    return wrong(policy.tree[handler.keys[0]].span, "only `resume` has an order",
                 "write `on resume of group g by g.age`, or leave `by …` out");
  }
  const bool held = row.point == Point::Turn && row.subject == Subject::Group && !handler.every;
  if (handler.ahead_runs && !held) {
    return wrong(handler.point_span, "`ahead: run` belongs to `turn N of group`",
                 "rollouts that are ahead are held there only: leave it out");
  }
  return true;
}

// The row of a handler; null after an error.
const PointRow* row_of(Policy& policy, const tree::Handler& handler) {
  const std::vector<const PointRow*> rows = find_points(handler.point);
  if (rows.empty()) return nullptr;  // the parser knows the points too, and has said so
  for (const PointRow* const row : rows) {
    if (row->word == handler.subject) return well_formed(policy, handler, *row) ? row : nullptr;
  }
  const std::string point = handler.point == "tokens" ? "every … tokens" : handler.point;
  policy.error("E0303", handler.point_span,
               quoted(point) + " is asked of " + list_of(rows) + ", not of a " + handler.subject, "",
               "write `" + std::string(rows[0]->example) + "`");
  return nullptr;
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

// N of `turn N`, `wave N` and `every N tokens`; nothing after an error.
std::optional<ReadArgument> number_of(Policy& policy, const tree::Handler& handler, Point point) {
  Builder builder(policy);
  Expressions expressions(policy, builder, Where{});
  switch (point) {
    case Point::Turn:
      return expressions.read_argument(handler.number, BaseUnit::Turns, true, false, "N of `turn N`");
    case Point::Tokens:
      return expressions.read_argument(handler.number, BaseUnit::Tokens, false, false, "N of `every N tokens`");
    default:
      return expressions.read_argument(handler.number, BaseUnit::Groups, false, false, "N of `wave N`");
  }
}

// What one verdict makes another handler or declaration necessary for.
void check_needs(Policy& policy) {
  if (policy.unread) return;
  const auto answered = [&](std::string_view point) {
    const auto& handlers = policy.tree.handlers;
    return std::any_of(handlers.begin(), handlers.end(), [&](const auto& handler) { return handler.point == point; });
  };
  if (policy.first_refill && policy.tree.refills.empty()) {
    policy.error("E0402", *policy.first_refill, "a refill that can go on for ever", "asks for fresh prompts",
                 "add  refill at most 10 rounds then train_partial");
  }
  const std::optional<Refill>& bound = policy.program.refill;
  if (policy.first_refill && bound && bound->rounds.kind == ReadArgument::Kind::Integer && bound->rounds.integer == 1) {
    policy.warning("W0507", bound->span, "no slot is ever refilled", "the first fill is the one round that there is",
                   "write `refill at most 2 rounds` for one refill, or leave `refill` out of the verdicts",
                   {{*policy.first_refill, "asked for here"}});
  }
  if (policy.first_defer && !answered("resume")) {
    policy.error("E0321", *policy.first_defer, "a deferred group that nothing resumes", "it would wait for its end",
                 "add  on resume of group g by g.age { complete to 16 }");
  }
  if (policy.open_eviction && !policy.readmits) {
    policy.error("E0322", *policy.open_eviction, "an eviction without a way back", "the prompt is never drawn again",
                 "say when it comes back, `evict until epoch + 1`; or mean it, `evict for good`; or readmit it: "
                 "`on epoch of pool p { readmit where q.evicted }`");
  }
}

}  // namespace

void check_handlers(Policy& policy) {
  std::vector<std::pair<Handler, Span>> known;  // without their rules: point, subject and number
  for (std::size_t i = 0; i < policy.tree.handlers.size(); ++i) {
    const tree::Handler& handler = policy.tree.handlers[i];
    if (mixed_subjects(policy, i)) continue;
    const PointRow* const row = row_of(policy, handler);
    if (!row) continue;
    Handler place;
    place.point = row->point;
    place.subject = row->subject;
    place.every = handler.every;
    if (handler.number != tree::none) {
      place.number = number_of(policy, handler, row->point);
      if (!place.number) continue;
    }
    Handler checked = HandlerChecker(policy, handler, *row, place.number).check();
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
  check_needs(policy);
}

}  // namespace allot::lang::checker
