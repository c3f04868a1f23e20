// Verdicts become orders, and ended groups get their fate.
#include <algorithm>
#include <numeric>

#include "runtime/engine/live_engine.h"

namespace allot::engine {

using lang::RolloutsField;

// Rollouts started, where the verdict says anything of that; none where the point's default stands.
std::optional<int> LiveEngine::carry_out(LiveGroup& group, const Verdict& verdict, Orders& orders) {
  keep_fields(group, verdict);
  switch (verdict.rollouts) {
    case RolloutsField::Stop:
      group.stopped = group.ended_by_verdict = true;
      stop_live(group, orders);
      return 0;
    case RolloutsField::StopWhere:
      for (const int sample : verdict.stopped) {
        const bool known = static_cast<std::size_t>(sample) < group.log.rollouts.size();
        if (known && group.log.rollouts[static_cast<std::size_t>(sample)].live()) stop_rollout(group, sample, orders);
      }
      return std::nullopt;
    case RolloutsField::SampleMore: return start_more(group, verdict.amount(), orders);
    case RolloutsField::CompleteTo:
      return start_more(group, verdict.amount() - static_cast<std::int64_t>(group.log.rollouts.size()), orders);
    case RolloutsField::Branch:  // worlds that restore only; no host of this engine has one
    case RolloutsField::Continue:
    case RolloutsField::Default: break;
  }
  return std::nullopt;
}

void LiveEngine::stop_rollout(LiveGroup& group, int sample, Orders& orders) {
  RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(sample)];
  rollout.status = Status::Stopped;
  rollout.held = false;
  ledger_.end(rollout.permit, rollout.turns() > 0);
  group.kept.ended(sample);
  ++tallies_.stopped;
  ++tallies_.unscored;
  orders.stop.push_back({group.log.group, sample});
}

void LiveEngine::stop_live(LiveGroup& group, Orders& orders) {
  for (std::size_t sample = 0; sample < group.log.rollouts.size(); ++sample) {
    if (group.log.rollouts[sample].live()) stop_rollout(group, static_cast<int>(sample), orders);
  }
}

// Within the group's cap and the budget; what lies outside is counted.
int LiveEngine::start_more(LiveGroup& group, std::int64_t wanted, Orders& orders) {
  const int first = static_cast<int>(group.log.rollouts.size());
  if (wanted <= 0 || group.ended_by_verdict) return 0;
  const std::int64_t room = std::max(0, group.log.cap - first);
  if (wanted > room) ++tallies_.clamped;
  const int within = static_cast<int>(std::min(wanted, room));
  const int count = ledger_.affordable(within);
  tallies_.starts_cut += within - count;
  group.cut_by_budget = group.cut_by_budget || count < within;
  if (count == 0) return 0;
  if (!group.log.least_live_turns()) group.turn_passed = 0;  // a new wave counts its turns from the first
  for (int i = 0; i < count; ++i) {
    group.log.rollouts.emplace_back();
    group.kept.started();
    ledger_.start(group.log.rollouts.back().permit);
  }
  tallies_.rollouts += count;
  orders.start.push_back({group.log.group, group.log.prompt, first, count});
  audit_.started(group.log.group, first, count);
  return count;
}

void LiveEngine::close(LiveGroup& group, Orders& orders) {
  group.closed = true;
  if (judge_ && !group.stopped) ask_late(group);
  if (judge_ && !group.dropped) ask_finish(group);
  decide_fate(group);
  ledger_.close_group(group.fate, static_cast<int>(group.log.rollouts.size()));
  if (group.held_out) {
    ++tallies_.held_out;
    if (group.log.scored_rewards().size() >= 2) trust_.observe(group.flat);
  }
  GroupResult result = result_of(group);
  audit_.closed(group, result);
  orders.closed.push_back(std::move(result));
  Slot& slot = batch_.slot(group.log.slot);
  slot.status = group.fate == Fate::Trained ? SlotStatus::Filled : SlotStatus::Left;
  if (group.fate != Fate::Trained && group.slot == lang::SlotField::Refill) refill(group.log.slot, orders);
}

void LiveEngine::decide_fate(LiveGroup& group) {
  group.flat = group.log.flat(policy_ ? policy_->program().flat_within : 0.0);
  group.fate = Fate::Dropped;
  if (group.dropped) return;
  std::vector<int> wanted = group.subset.value_or(std::vector<int>{});
  if (!group.subset) {
    wanted.resize(group.log.rollouts.size());
    std::iota(wanted.begin(), wanted.end(), 0);
  }
  for (const int sample : wanted) {
    const bool known = sample >= 0 && static_cast<std::size_t>(sample) < group.log.rollouts.size();
    const bool usable = known && group.log.rollouts[static_cast<std::size_t>(sample)].scored();
    if (usable) group.trained.push_back(sample);
    tallies_.left_out += group.subset && !usable;
  }
  if (!group.trained.empty()) {
    group.fate = Fate::Trained;
    return;
  }
  // Nothing to train on is never "no filter" (faults.md 21).
  if (group.reason.empty()) {
    group.reason = group.log.scored_rewards().empty() ? "no rollout was scored" : "the subset holds no scored rollout";
  }
}

GroupResult LiveEngine::result_of(const LiveGroup& group) const {
  GroupResult result;
  result.group = group.log.group;
  result.prompt = group.log.prompt;
  result.slot = group.log.slot;
  result.round = group.log.round;
  result.fate = group.fate;
  result.subset = group.trained;
  const bool whole = group.normalize == lang::Normalize::Group;
  result.normalize = whole ? NormalizeOver::Group : NormalizeOver::Subset;
  result.flat = group.flat;
  result.reason = group.reason;
  result.rule = group.where;
  result.gate = group.gate;
  return result;
}

}  // namespace allot::engine
