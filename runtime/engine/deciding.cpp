// When each decision point comes, and what is made of the answer.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"

namespace allot::engine {

using lang::Point;
using lang::RolloutsField;

std::optional<Verdict> LiveEngine::consult(int handler, LiveGroup& group, int turn) {
  Judge& judge = group.version->judge;
  Decision decision = judge.ask(handler, group, turn, run_facts(group), store_, Effects::Keep);
  if (observer_) observer_(decision, group, turn);
  const bool stop = decision.verdict.rollouts == RolloutsField::Stop;
  const GroupLog& log = group.log;
  Carried carried = Carried::Out;
  if (shadow()) {
    carried = Carried::Shadow;
  } else if (stop && trust_.in_holdout(log.prompt, iteration_, log.slot, log.round)) {
    carried = Carried::HeldOut;
  }
  if (stop && carried != Carried::Out) group.held_out = true;
  if (group.version->program().handlers[static_cast<std::size_t>(handler)].point == Point::Turn) {
    group.gate.asked = true;
    group.gate.stop = group.gate.stop || stop;
    group.gate.carried_out = group.gate.carried_out || (stop && carried == Carried::Out);
  }
  audit_.decided(judge, decision, iteration_, {log.group, -1}, turn, carried);
  note_fault(judge, decision);
  if (carried != Carried::Out || decision.verdict.rule < 0) return std::nullopt;
  return std::move(decision.verdict);
}

std::optional<Verdict> LiveEngine::consult_rollout(int handler, LiveGroup& group, int sample) {
  const int turn = group.log.rollouts[static_cast<std::size_t>(sample)].turns();
  Judge& judge = group.version->judge;
  Decision decision = judge.ask_rollout(handler, group, sample, turn, run_facts(group), store_);
  audit_.decided(judge, decision, iteration_, {group.log.group, sample}, turn, shadow() ? Carried::Shadow : Carried::Out);
  note_fault(judge, decision);
  if (shadow() || decision.verdict.rule < 0) return std::nullopt;
  return std::move(decision.verdict);
}

Decision LiveEngine::consult_batch(int handler, const BatchFacts& batch) {
  Decision decision = judge_->ask_batch(handler, batch, run_facts(), store_);
  audit_.decided(*judge_, decision, iteration_, {}, 0, shadow() ? Carried::Shadow : Carried::Out);
  note_fault(*judge_, decision);
  return decision;
}

void LiveEngine::note_fault(const Judge& judge, const Decision& decision) {
  if (!decision.fault) return;
  if (settings_.stop_on_fault) {
    fatal_ = Error{"The policy faulted: " + decision.fault->text + ".", "the run stops on a fault, as it was told to"};
  }
  // The journal has all of them; a person wants to see the first.
  if (judge.counts().faults == 1) messages_.push_back("fault: " + decision.fault->text + "; the default was taken.");
}

// `every turn of rollout`, and `every N tokens of rollout` at the end of the turn in which it passed another N.
void LiveEngine::ask_rollout(LiveGroup& group, int sample, std::int64_t tokens_before, Orders& orders) {
  const RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(sample)];
  const Points& points = group.version->points;
  if (!points.asks_rollouts()) return;
  std::vector<int> asked = points.handlers(Point::Tokens);
  std::erase_if(asked, [&](int handler) {
    const std::int64_t every = points.number(handler);
    return rollout.tokens / every == tokens_before / every;
  });
  if (const int handler = points.find(Point::Turn, lang::Subject::Rollout); handler != no_handler) {
    asked.push_back(handler);
  }
  for (const int handler : asked) {
    if (!rollout.live()) return;
    const auto verdict = consult_rollout(handler, group, sample);
    if (verdict && verdict->rollouts == RolloutsField::Stop) stop_rollout(group, sample, orders);
  }
}

// Before anything else sees the reward. What the environment gave stays in `raw_reward`.
void LiveEngine::ask_score(LiveGroup& group, int sample) {
  for (const int handler : group.version->points.chain(Point::Score, lang::Subject::Rollout)) {
    const auto verdict = consult_rollout(handler, group, sample);
    if (!verdict || !verdict->reward) continue;
    RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(sample)];
    if (!rollout.raw_reward) rollout.raw_reward = rollout.reward;
    rollout.reward = verdict->reward;
  }
}

bool LiveEngine::asks_turn(const LiveGroup& group, int turn) const {
  const Points& points = group.version->points;
  const int handler = points.find(Point::Turn, turn);
  if (handler == no_handler) return false;
  const std::vector<int>& fired = group.turn_handlers_fired;
  return !points.numbered(handler) || std::find(fired.begin(), fired.end(), handler) == fired.end();
}

// `turn N` comes once every live rollout has executed N turns. Held rollouts wait for their siblings at the first N
// that they reach, so no rollout is ever ahead of a point that is still to come. While it is open how a rollout ended
// (in error it would be left out), the point waits: ended() follows at once.
void LiveEngine::pass_turn_points(LiveGroup& group, Orders& orders) {
  if (!group.version) return;
  const Points& points = group.version->points;
  const auto ending = [](const RolloutLog& rollout) { return rollout.outstanding() && rollout.last_turn; };
  if (std::any_of(group.log.rollouts.begin(), group.log.rollouts.end(), ending)) return hold_or_release(group, orders);
  for (auto least = group.log.least_live_turns(); least && *least > group.turn_passed;
       least = group.log.least_live_turns()) {
    const int turn = ++group.turn_passed;
    if (!asks_turn(group, turn)) continue;
    const int handler = points.find(Point::Turn, turn);
    if (points.numbered(handler)) group.turn_handlers_fired.push_back(handler);
    if (const auto verdict = consult(handler, group, turn)) carry_out(group, *verdict, orders);
  }
  hold_or_release(group, orders);
}

// `ahead: run` lets rollouts go on that have reached the turn before their siblings.
bool LiveEngine::holds(const LiveGroup& group, int turn) const {
  const int handler = group.version->points.find(Point::Turn, turn);
  return !group.version->program().handlers[static_cast<std::size_t>(handler)].ahead_runs;
}

void LiveEngine::hold_or_release(LiveGroup& group, Orders& orders) {
  for (std::size_t sample = 0; sample < group.log.rollouts.size(); ++sample) {
    RolloutLog& rollout = group.log.rollouts[sample];
    const bool ahead = !shadow() && rollout.live() && rollout.turns() > group.turn_passed &&
                       asks_turn(group, rollout.turns()) && holds(group, rollout.turns());
    if (ahead == rollout.held) continue;
    rollout.held = ahead;
    const RolloutRef ref{group.log.group, static_cast<int>(sample)};
    if (ahead) {
      orders.hold.push_back(ref);
    } else if (rollout.live()) {
      orders.release.push_back(ref);
    }
  }
}

void LiveEngine::ask_result(LiveGroup& group, Orders& orders) {
  const int handler = group.version ? group.version->points.find(Point::Result) : no_handler;
  if (handler == no_handler) {
    ++group.counted.points_without_handler;
    return;
  }
  const auto verdict = consult(handler, group, current_turn(group.log));
  if (verdict) carry_out(group, *verdict, orders);
}

// When nothing is outstanding the wave is over; what starts nothing ends the group.
void LiveEngine::settle(LiveGroup& group, Orders& orders) {
  if (group.closed || group.log.outstanding()) return;
  if (!group.ended_by_verdict) {
    ++group.log.wave;
    ++tallies_.waves;
    if (judge_ && points_.has(Point::Wave, lang::Subject::Batch)) {
      group.waits = true;
      return;
    }
    group.to_defer = false;
    if (ask_wave(group, orders) > 0) return;
    if (group.to_defer) return defer(group, orders);
  }
  close(group, orders);
}

// Rollouts started. The default is to complete the group to what was planned.
int LiveEngine::ask_wave(LiveGroup& group, Orders& orders) {
  const auto to_planned = [&] {
    return start_more(group, group.log.planned - static_cast<int>(group.log.rollouts.size()), orders);
  };
  const int handler = group.version ? group.version->points.find(Point::Wave, group.log.wave) : no_handler;
  if (handler == no_handler) {
    ++tallies_.points_without_handler;
    return to_planned();
  }
  const auto verdict = consult(handler, group, current_turn(group.log));
  if (!verdict) return to_planned();
  const std::optional<int> started = carry_out(group, *verdict, orders);
  return started ? *started : group.ended_by_verdict || group.to_defer ? 0 : to_planned();
}

// `wave of batch`, once every open group has ended its wave. Groups that came in later may be at an earlier wave: the
// lowest is asked about first. Gives whether it was asked.
bool LiveEngine::ask_batch_wave(Orders& orders) {
  std::vector<LiveGroup*> open;
  for (const auto& [number, group] : groups_) {
    if (group->waits) open.push_back(group.get());
  }
  if (open.empty()) return false;
  const auto wave_of = [](const LiveGroup* group) { return group->log.wave; };
  const int wave = wave_of(*std::min_element(open.begin(), open.end(), [&](const LiveGroup* a, const LiveGroup* b) {
    return wave_of(a) < wave_of(b);
  }));
  std::erase_if(open, [&](const LiveGroup* group) { return wave_of(group) != wave; });
  std::sort(open.begin(), open.end(), [](const LiveGroup* a, const LiveGroup* b) { return a->log.slot < b->log.slot; });
  std::vector<std::int64_t> wanted;
  for (const LiveGroup* group : open) wanted.push_back(group->log.planned - static_cast<int>(group->log.rollouts.size()));
  const int handler = points_.find(Point::Wave, lang::Subject::Batch, wave);
  std::optional<Verdict> verdict;
  if (handler == no_handler) {
    ++tallies_.points_without_handler;
  } else {
    BatchFacts facts;
    for (LiveGroup* const group : open) {
      group->kept.cover(version_->plan, group->log);
      GroupFacts of_group = group->facts(current_turn(group->log));
      of_group.prompt = facts.place(group->log.prompt);
      of_group.category = facts.category_place(group->log.category);
      facts.groups.push_back(of_group);
      facts.prompts.push_back(of_group.prompt);
    }
    describe(facts);
    Decision decision = consult_batch(handler, facts);
    if (!shadow() && decision.verdict.rule >= 0) verdict = std::move(decision.verdict);
  }
  for (std::size_t i = 0; verdict && i < open.size(); ++i) {
    switch (verdict->rollouts) {
      case RolloutsField::SampleMore: wanted[i] = verdict->amount(i); break;
      case RolloutsField::CompleteTo:
        wanted[i] = verdict->amount(i) - static_cast<std::int64_t>(open[i]->log.rollouts.size());
        break;
      case RolloutsField::Stop: wanted[i] = 0; break;
      default: break;
    }
  }
  start_together(open, wanted, orders);
  for (LiveGroup* group : open) {
    group->waits = false;
    if (!group->log.outstanding() && !group->closed) close(*group, orders);
  }
  return true;
}

// A `turn N` that never came while a rollout was live is asked all the same, for the run's table alone. A group whose
// turns were cut short by a verdict is not: they say nothing of turn N.
void LiveEngine::ask_late(LiveGroup& group) {
  Version& version = *group.version;
  for (const int handler : version.points.turn_handlers()) {
    const std::vector<int>& fired = group.turn_handlers_fired;
    if (std::find(fired.begin(), fired.end(), handler) != fired.end()) continue;
    const int turn = version.points.number(handler);
    const Decision decision = version.judge.ask(handler, group, turn, run_facts(group), store_, Effects::Discard);
    ++tallies_.late_questions;
    group.gate.asked = true;
    if (decision.verdict.rollouts == RolloutsField::Stop) {
      group.gate.late = !group.gate.stop || group.gate.late;
      group.gate.stop = true;
    }
    audit_.decided(version.judge, decision, iteration_, {group.log.group, -1}, turn, Carried::Late);
    note_fault(version.judge, decision);
  }
}

void LiveEngine::ask_finish(LiveGroup& group) {
  const int handler = group.version->points.find(Point::Finish);
  if (handler == no_handler) {
    ++tallies_.points_without_handler;
    return;
  }
  if (const auto verdict = consult(handler, group, current_turn(group.log))) keep_fields(group, *verdict);
}

// A later point may replace a field; a drop is final.
void LiveEngine::keep_fields(LiveGroup& group, const Verdict& verdict) {
  if (verdict.slot != lang::SlotField::Default) group.slot = verdict.slot;
  if (verdict.prompt != lang::PromptField::Default) {
    group.prompt_field = verdict.prompt;
    // Without an epoch it stays away until it is readmitted.
    group.until = verdict.untils.empty() ? PromptHistory::for_good : verdict.untils.front();
  }
  const bool stops = verdict.rollouts == RolloutsField::Stop;
  if (group.dropped || (verdict.group == lang::GroupField::Default && !stops)) return;
  group.reason = verdict.reason;
  group.where = verdict.where;
  group.said_train = verdict.group == lang::GroupField::Train;
  if (verdict.group == lang::GroupField::Drop) group.dropped = group.ended_by_verdict = true;
  if (verdict.group == lang::GroupField::Defer) {
    group.to_defer = true;
    if (!group.defer_limit) group.defer_limit = verdict.age_limit.value_or(0);
  }
  if (verdict.group != lang::GroupField::Train) return;
  group.subset = verdict.subset;
  group.normalize = verdict.normalize;
}

}  // namespace allot::engine
