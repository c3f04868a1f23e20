#include "runtime/engine/events.h"

#include <array>
#include <iterator>

#include <fmt/format.h>

namespace allot::engine {
namespace {

template <typename T>
void move_behind(std::vector<T>& all, std::vector<T>& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::string_view name(Status status) {
  static constexpr std::array<std::string_view, 8> words = {"never_started", "running", "completed", "truncated",
                                                            "stopped",       "aborted", "timeout",   "error"};
  return words[static_cast<std::size_t>(status)];
}

Result<void> check_turn(RolloutRef rollout, const Turn& turn) {
  if (turn.tokens >= 0 && turn.calls >= 0) return {};
  return Error{fmt::format("A turn of rollout {} of group {} is reported with {} {}.", rollout.sample, rollout.group,
                           turn.tokens < 0 ? turn.tokens : turn.calls, turn.tokens < 0 ? "tokens" : "calls"),
               "report what the model wrote and called in this turn: 0 or more"};
}

void Orders::append(Orders more) {
  move_behind(start, more.start);
  move_behind(stop, more.stop);
  move_behind(hold, more.hold);
  move_behind(release, more.release);
  move_behind(closed, more.closed);
  move_behind(deferred, more.deferred);
  batch_closed = batch_closed || more.batch_closed;
}

}  // namespace allot::engine
