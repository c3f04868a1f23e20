// Groups that wait: for a later round, for a later iteration, or in vain.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"

namespace allot::engine {

void LiveEngine::set_deferred(LiveGroup& group, bool deferred) {
  if (group.deferred == deferred) return;
  deferred_ += deferred ? 1 : -1;
  group.deferred = deferred;
}

// All its rollouts have ended, so nothing is reserved; what it starts later is charged then. Who waits is under a version
// that goes on deciding, as it would be after a resume.
void LiveEngine::defer(LiveGroup& group, Orders& orders) {
  group.to_defer = group.waits = false;
  set_deferred(group, true);
  ++tallies_.deferred;
  ledger_.defer_group(static_cast<int>(group.log.rollouts.size()));
  audit_.deferred(group, iteration_);
  orders.deferred.push_back(group.log.group);
  free_place(group, orders);
  group.slot = lang::SlotField::Default;
  if (!group.version || group.version == swaps_.current || group.version == swaps_.canary) return;
  SwapReport moved;  // that of the swap is told
  adopt(group, swaps_.current, moved);
}

bool LiveEngine::may_wait(const LiveGroup& group) const {
  return group.defer_limit && !group.dropped && iteration_ - group.log.iteration < *group.defer_limit;
}

// Those that wait, in the order in which they are taken: by KEYS of `resume` ascending, then the older first.
std::vector<LiveGroup*> LiveEngine::due() {
  struct Candidate {
    std::vector<double> keys;
    LiveGroup* group;
  };
  std::vector<Candidate> waiting;
  for (const auto& [number, group] : groups_) {
    if (!group->deferred) continue;
    waiting.push_back({{}, group.get()});
    const int handler = group->version ? group->version->points.find(lang::Point::Resume) : no_handler;
    if (handler != no_handler) waiting.back().keys = group->version->judge.keys(handler, *group, run_facts(*group), store_);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const Candidate& a, const Candidate& b) { return a.keys < b.keys; });
  std::vector<LiveGroup*> groups;
  for (const Candidate& candidate : waiting) groups.push_back(candidate.group);
  return groups;
}

void LiveEngine::resume(LiveGroup& group, int place, int round, Orders& orders) {
  set_deferred(group, false);
  group.active = group.placed = true;
  group.short_of = 0;
  group.log.slot = place;
  group.log.round = round;
  group.reason.clear();
  group.where.clear();
  ++tallies_.resumed;
  ledger_.resume_group(static_cast<int>(group.log.rollouts.size()));
  batch_.slot(place) = {SlotStatus::Running, round};
  audit_.taken_up(group, iteration_);
  const int handler = group.version ? group.version->points.find(lang::Point::Resume) : no_handler;
  std::optional<Verdict> verdict;
  if (handler != no_handler) verdict = consult(handler, group, current_turn(group.log));
  std::optional<int> started;
  if (verdict) started = carry_out(group, *verdict, orders);
  if (!started && !group.ended_by_verdict) {
    started = start_more(group, group.log.planned - static_cast<std::int64_t>(group.log.rollouts.size()), orders);
  }
  if (started.value_or(0) == 0) close(group, orders);
}

// Every slot is taken: who is still on the way waits for another iteration where the policy allows it, or ends.
void LiveEngine::surplus(LiveGroup& group, Orders& orders) {
  group.slot = lang::SlotField::Default;
  for (std::size_t sample = 0; sample < group.log.rollouts.size(); ++sample) {
    if (group.log.rollouts[sample].outstanding()) stop_rollout(group, static_cast<int>(sample), orders);
  }
  group.trained.clear();
  if (may_wait(group)) return defer(group, orders);
  ++tallies_.surplus;
  group.reason = "surplus: every slot was taken";
  group.where.clear();
  end_as(group, Fate::Surplus, orders);
}

// At its age limit, with no round left that could take it up, a group is dropped.
void LiveEngine::drop_expired(Orders& orders) {
  for (std::size_t place = 0; place < groups_.size(); ++place) {  // a place set free may open one more
    LiveGroup& group = groups_.at_place(place);
    if (!group.deferred || may_wait(group)) continue;
    ++tallies_.expired;
    group.dropped = group.ended_by_verdict = true;
    group.reason = fmt::format("deferred for {} iterations and never taken up", iteration_ - group.log.iteration);
    group.where.clear();
    group.slot = lang::SlotField::Default;
    group.flat = group.log.flat(program_of(group).flat_within);
    ledger_.resume_group(static_cast<int>(group.log.rollouts.size()));
    end_as(group, Fate::Dropped, orders);
  }
}

}  // namespace allot::engine
