#include "runtime/trial/script.h"

#include <fmt/format.h>

#include <algorithm>

namespace allot::trial {
namespace {

using Kind = lang::tree::Score::Kind;

std::string_view fate_word(engine::Fate fate) {
  switch (fate) {
    case engine::Fate::Trained: return "trained";
    case engine::Fate::Dropped: return "dropped";
    case engine::Fate::Surplus: return "surplus";
    default: return "cancelled";
  }
}

std::size_t turns_of(const Part& part, int sample) {
  const auto at = static_cast<std::size_t>(sample);
  return at < part.actions.size() ? part.actions[at].size() : 0;
}

}  // namespace

Result<void> Script::take(const engine::Orders& orders) {
  const auto find = [&](engine::RolloutRef ref) {
    return std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.ref == ref; });
  };
  for (const engine::RolloutRef ref : orders.stop) {
    if (const auto live = find(ref); live != live_.end()) live_.erase(live);
  }
  for (const engine::RolloutRef ref : orders.hold) {
    if (const auto live = find(ref); live != live_.end()) live->held = true;
  }
  for (const engine::RolloutRef ref : orders.release) {
    if (const auto live = find(ref); live != live_.end()) live->held = false;
  }
  for (const engine::Start& start : orders.start) {
    course_of(start.group, start.prompt);
    for (int i = 0; i < start.count; ++i) live_.push_back({{start.group, start.first + i}, start.prompt, 0, false});
  }
  // One event may defer a group, take it up again and close it.
  for (const int group : orders.deferred) {
    if (const engine::GroupLog* const log = engine_.group_log(group)) course_of(group, log->prompt).fate = "deferred";
  }
  for (const engine::GroupResult& result : orders.closed) {
    Course& course = course_of(result.group, result.prompt);
    course.fate = fate_word(result.fate);
    course.result = result;
  }
  closed_ = closed_ || orders.batch_closed;
  return {};
}

Course& Script::course_of(int group, const std::string& prompt) {
  Course& course = courses_[prompt];
  course.group = group;
  return course;
}

void Script::count() {
  for (auto& [prompt, course] : courses_) {
    const engine::GroupLog* const log = engine_.group_log(course.group);
    if (log == nullptr) continue;
    const engine::GroupCounts counts = log->counts();
    course.started = counts.started;
    course.scored = counts.scored;
    course.stopped = static_cast<int>(std::count_if(log->rollouts.begin(), log->rollouts.end(), [](const auto& rollout) {
      return rollout.status == engine::Status::Stopped;
    }));
  }
}

// In lock-step: the rollout that is furthest behind moves, the first of several.
Script::Live* Script::next(const std::string& prompt, const Part& part) {
  Live* best = nullptr;
  for (Live& live : live_) {
    if (live.prompt != prompt || live.held) continue;
    const bool moves = live.turns < turns_of(part, live.ref.sample);
    const bool best_moves = best != nullptr && best->turns < turns_of(part, best->ref.sample);
    if (best == nullptr || (moves && !best_moves) || (moves == best_moves && live.turns < best->turns)) best = &live;
  }
  return best;
}

Result<void> Script::step(const Part& part, Live& live) {
  const std::size_t turns = turns_of(part, live.ref.sample);
  if (live.turns < turns) {
    engine::Turn turn;
    turn.action = part.actions[static_cast<std::size_t>(live.ref.sample)][live.turns];
    turn.tokens = tokens_;
    turn.last = ++live.turns == turns;
    auto orders = engine_.turn(live.ref, turn);
    return orders ? take(*orders) : Result<void>(orders.error());
  }
  Course& course = courses_[part.prompt];
  if (course.arrived >= part.kinds.size()) {
    const auto waiting = std::count_if(live_.begin(), live_.end(), [&](const Live& each) { return each.prompt == part.prompt; });
    return Error{fmt::format("group {} has {} rollouts to be scored, but {} rewards are written", part.prompt,
                             static_cast<std::ptrdiff_t>(course.arrived) + waiting, part.kinds.size()),
                 "write one for each rollout that is started: a number, `?` for none, `!` for an error"};
  }
  engine::Ending ending;
  const std::size_t at = course.arrived++;
  if (part.kinds[at] == Kind::Reward) ending.reward = part.rewards[at];
  if (part.kinds[at] == Kind::Failed) {
    ending.status = engine::Status::Error;
    ending.cause = "the scenario says so";
  }
  const engine::RolloutRef ref = live.ref;
  std::erase_if(live_, [&](const Live& each) { return each.ref == ref; });
  auto orders = engine_.ended(ref, ending);
  return orders ? take(*orders) : Result<void>(orders.error());
}

Result<void> Script::play(int iteration, const std::vector<std::string>& prompts, const std::vector<Part>& parts) {
  courses_.clear();
  live_.clear();
  closed_ = false;
  auto orders = engine_.begin_iteration(iteration, prompts);
  if (!orders) return orders.error();
  if (auto taken = take(*orders); !taken) return taken;
  while (!closed_) {
    Live* live = nullptr;
    const Part* part = nullptr;
    for (const Part& each : parts) {
      if ((live = next(each.prompt, each)) != nullptr) {
        part = &each;
        break;
      }
    }
    if (live == nullptr) {
      if (live_.empty()) return Error{"nothing runs any more, and the batch is not closed", ""};
      return Error{fmt::format("group {} was opened, and the scenario does not say what comes of it", live_.front().prompt),
                   fmt::format("write `group {}: rewards …` in this iteration", live_.front().prompt)};
    }
    if (auto done = step(*part, *live); !done) return done;
  }
  count();
  return {};
}

}  // namespace allot::trial
