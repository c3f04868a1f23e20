// Verdicts become orders, and ended groups get their fate.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

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
  const std::size_t before = group.log.rollouts.size();
  if (wanted > 0 && !group.ended_by_verdict) start_together({&group}, {wanted}, orders);
  return static_cast<int>(group.log.rollouts.size() - before);
}

// A request for several groups is reserved as a whole: what the budget cannot cover is cut from the last slot
// backwards. What a group was refused before it may be asking for again: that counts once, and no more once it is there.
void LiveEngine::start_together(const std::vector<LiveGroup*>& groups, const std::vector<std::int64_t>& wanted,
                                Orders& orders) {
  std::vector<int> within;
  int total = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::int64_t room = std::max<std::int64_t>(0, groups[i]->log.cap - static_cast<int>(groups[i]->log.rollouts.size()));
    if (wanted[i] > room) ++tallies_.clamped;
    within.push_back(static_cast<int>(std::clamp<std::int64_t>(wanted[i], 0, room)));
    total += within.back();
  }
  int left = ledger_.affordable(total);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int count = std::min(within[i], left);
    left -= count;
    groups[i]->cut_by_budget = groups[i]->cut_by_budget || count < within[i];
    const int short_of = std::max(groups[i]->short_of, within[i]) - count;
    tallies_.starts_cut += short_of - std::exchange(groups[i]->short_of, short_of);
    begin_rollouts(*groups[i], count, orders);
  }
  note_shortage();
}

// The first time says most: later the same rollouts hold what is missing.
void LiveEngine::note_shortage() {
  if (first_shortage_.empty() && (tallies_.starts_cut > 0 || tallies_.budget_stops > 0)) first_shortage_ = ledger_.tightest();
}

void LiveEngine::begin_rollouts(LiveGroup& group, int count, Orders& orders) {
  if (count == 0) return;
  const int first = static_cast<int>(group.log.rollouts.size());
  if (!group.log.least_live_turns()) group.turn_passed = 0;  // a new wave counts its turns from the first
  for (int i = 0; i < count; ++i) {
    RolloutLog& rollout = group.log.rollouts.emplace_back();
    rollout.iteration = iteration_;
    const auto turns = static_cast<std::size_t>(std::min(settings_.turn_limit, 64));
    rollout.actions.reserve(turns);
    rollout.each_turn.reserve(turns);
    group.kept.started();
    ledger_.start(rollout.permit);
  }
  tallies_.rollouts += count;
  orders.start.push_back({group.log.group, group.log.prompt, first, count});
  audit_.started(iteration_, group.log.group, first, count);
}

void LiveEngine::close(LiveGroup& group, Orders& orders) {
  // The last slot may have been taken in this very event.
  if (batch_.full() && !group.dropped) return surplus(group, orders);
  group.closed = true;
  if (group.version && !group.stopped) ask_late(group);
  if (group.version && !group.dropped) ask_finish(group);
  decide_fate(group);
  if (group.held_out) {
    ++tallies_.held_out;
    if (group.log.scored_rewards().size() >= 2) trust_.observe(group.flat);
  }
  end_as(group, group.fate, orders);
  if (!batch_.full()) return;
  for (std::size_t place = 0; place < groups_.size(); ++place) {  // a place set free may open one more
    LiveGroup& other = groups_.at_place(place);
    if (other.running() || other.waits) surplus(other, orders);
  }
}

// The group is over.
void LiveEngine::end_as(LiveGroup& group, Fate fate, Orders& orders) {
  group.fate = fate;
  group.closed = true;
  group.waits = false;
  set_deferred(group, false);
  ledger_.close_group(fate, static_cast<int>(group.log.rollouts.size()));
  GroupResult result = result_of(group);
  audit_.closed(group, result, iteration_);
  orders.closed.push_back(std::move(result));
  let_go(group);
  if (fate != Fate::Trained) return free_place(group, orders);
  batch_.slot(group.log.slot).status = SlotStatus::Filled;
  group.placed = false;
}

// The place of a group that is dropped, deferred or too many.
void LiveEngine::free_place(LiveGroup& group, Orders& orders) {
  if (!group.placed) return;
  group.placed = false;
  const bool again = group.slot == lang::SlotField::Refill;
  batch_.slot(group.log.slot).status = again && rounds_together_ ? SlotStatus::Waiting : SlotStatus::Left;
  if (again && !rounds_together_) refill(group.log.slot, orders);
}

namespace {

// ": 2 × timeout, 1 × error (the sandbox is gone)"; empty where none failed.
std::string failures(const GroupLog& log) {
  std::map<std::string_view, int> counts;
  std::string cause;
  for (const RolloutLog& rollout : log.rollouts) {
    if (!rollout.left_out()) continue;
    ++counts[name(rollout.status)];
    if (cause.empty()) cause = rollout.cause;
  }
  std::string text;
  for (const auto& [status, count] : counts) text += fmt::format("{} {} × {}", text.empty() ? ":" : ",", count, status);
  return cause.empty() ? text : fmt::format("{} ({})", text, cause);
}

}  // namespace

void LiveEngine::decide_fate(LiveGroup& group) {
  group.flat = group.log.flat(program_of(group).flat_within);
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
  const bool unscored = group.log.scored_rewards().empty();
  const bool by_budget = unscored && group.cut_by_budget;
  // A rule that stopped the group and told why has decided; one that said `train` has not.
  if (!by_budget && !group.said_train && !group.reason.empty()) return;
  std::string why = "the subset holds no scored rollout";
  if (unscored) {
    const std::string_view cut = by_budget ? ", for the budget did not cover all of its rollouts and turns" : "";
    why = fmt::format("no rollout was scored{}{}", cut, failures(group.log));
  }
  if (!group.where.empty()) {
    const std::string_view said = group.said_train ? "train" : group.ended_by_verdict ? "stop" : "defer";
    why += fmt::format("; {} had said {}{}{}", group.where, said, group.reason.empty() ? "" : ": ", group.reason);
  }
  group.where.clear();
  group.reason = std::move(why);
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
  if (group.version) result.policy = group.version->hash();
  result.gate = group.gate;
  for (const RolloutLog& rollout : group.log.rollouts) {
    result.rewards.push_back(rollout.reward);
    result.iterations.push_back(rollout.iteration);
  }
  return result;
}

}  // namespace allot::engine
