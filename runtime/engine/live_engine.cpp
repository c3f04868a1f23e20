#include "runtime/engine/live_engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "runtime/engine/stopwatch.h"

namespace allot::engine {
namespace {

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void count_status(OwnTallies& own, Tallies& tallies, Status status) {
  switch (status) {
    case Status::Completed: ++own.completed; break;
    case Status::Truncated: ++own.truncated; break;
    case Status::Aborted: ++tallies.aborted; break;
    case Status::Timeout: ++tallies.timeouts; break;
    case Status::Error: ++tallies.errors; break;
    default: break;
  }
}

}  // namespace

LiveEngine::~LiveEngine() {
  if (run_lock_.of_parent()) audit_.abandon();
}

RunFacts LiveEngine::run_facts(const LiveGroup& group) const {
  RunFacts facts = settled_facts(group);
  facts.empty_slots = std::max(0, batch_.missing());
  return facts;
}

RunFacts LiveEngine::run_facts() const {
  RunFacts facts = settled_facts();
  facts.empty_slots = std::max(0, batch_.missing());
  return facts;
}

// Of these nothing changes while groups open and close beside each other; but what the ledger holds does.
RunFacts LiveEngine::settled_facts(const LiveGroup& group) const {
  RunFacts facts = settled_facts();
  if (!group.version) return facts;
  facts.program = &group.version->program();
  facts.parameters = &group.version->policy->parameters();
  return facts;
}

const lang::Program& LiveEngine::program_of(const LiveGroup& group) const {
  static const lang::Program none;
  return group.version ? group.version->program() : policy_ ? policy_->program() : none;
}

RunFacts LiveEngine::settled_facts() const {
  static const lang::Program no_program;
  static const std::vector<lang::Cell> no_parameters;
  return {policy_ ? &policy_->program() : &no_program,
          policy_ ? &policy_->parameters() : &no_parameters,
          &ledger_, settings_.seed, settings_.slots, iteration_, pool_.epoch(), drawable_, known_,
          pool_.away_count(),
          deferred_};
}

// The rollout, if it is running. What comes too late, twice or for nobody is counted and never used.
LiveGroup* LiveEngine::running(RolloutRef ref) {
  if (ref.group < 0 || ref.group >= next_group_ || ref.sample < 0) {
    ++tallies_.unknown;
    return nullptr;
  }
  LiveGroup* const known = groups_.find(ref.group);
  if (known == nullptr) {
    ++tallies_.late;
    return nullptr;
  }
  LiveGroup& group = *known;
  if (static_cast<std::size_t>(ref.sample) >= group.log.rollouts.size()) {
    ++tallies_.unknown;
    return nullptr;
  }
  const RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(ref.sample)];
  if (rollout.outstanding()) return &group;
  ++(rollout.status == Status::Stopped ? tallies_.late : tallies_.duplicate);
  return nullptr;
}

// The batch's version asks of all its groups at `wave`, `shape` and `update`, the active one of those of a canary that
// wait.
bool LiveEngine::observes(const LiveGroup& group) const {
  return group.version && (group.version->plan.observations || observed_);
}

void LiveEngine::take_turn(LiveGroup& group, int sample, const Turn& turn) {
  group.log.append(sample, turn, observes(group), true);
  group.kept.took_turn(group.log, sample);
  ++group.counted.turns;
  group.counted.tokens += turn.tokens;
  group.counted.calls += turn.calls;
}

Result<Orders> LiveEngine::turn(RolloutRef ref, const Turn& turn) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  if (auto possible = check_turn(ref, turn); !possible) return possible.error();
  if (auto passed = pass_turn(ref, turn)) return *std::move(passed);
  const Event event(*this, ref);
  const Stopwatch watch(spent_seconds_);
  if (fatal_) return *fatal_;
  charge_seconds();
  if (audit_.keeps_events()) {
    const LiveGroup* const known = groups_.find(ref.group);
    audit_.turn(ref, turn, known != nullptr && observes(*known), event_time());
  }
  LiveGroup* group = running(ref);
  Orders orders;
  if (group == nullptr) return orders;
  RolloutLog& rollout = group->log.rollouts[static_cast<std::size_t>(ref.sample)];
  if (!rollout.live()) {
    ++tallies_.duplicate;
    return orders;
  }
  const std::int64_t tokens_before = rollout.tokens;
  take_turn(*group, ref.sample, turn);
  ledger_.settle(rollout.permit, turn);
  const bool covered = turn.last || (!ledger_.seconds_exhausted() && ledger_.reserve_turn(rollout.permit));
  if (!covered) {
    ++tallies_.budget_stops;
    note_shortage();
    group->cut_by_budget = true;
    stop_rollout(*group, ref.sample, orders);
  }
  if (group->version) ask_rollout(*group, ref.sample, tokens_before, orders);
  pass_turn_points(*group, orders);
  settle(*group, orders);
  return finish_event(std::move(orders));
}

Result<Orders> LiveEngine::ended(RolloutRef ref, const Ending& ending) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  if (auto passed = pass_ending(ref, ending)) return *std::move(passed);
  const Event event(*this, ref);
  const Stopwatch watch(spent_seconds_);
  if (fatal_) return *fatal_;
  charge_seconds();
  audit_.ended(ref, ending, event_time());
  LiveGroup* group = running(ref);
  Orders orders;
  if (group == nullptr) return orders;
  record_ending(*group, ref.sample, ending, group->version ? &group->version->judge : nullptr);
  if (group->log.rollouts[static_cast<std::size_t>(ref.sample)].scored()) ask_result(*group, orders);
  pass_turn_points(*group, orders);
  settle(*group, orders);
  return finish_event(std::move(orders));
}

// `judge` is asked whether the reward met the hit condition.
void LiveEngine::record_ending(LiveGroup& group, int sample, const Ending& ending, Judge* judge) {
  RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(sample)];
  // Only the engine stops a rollout, and only a driver that lost count would say that one still runs.
  const bool possible = ending.status != Status::NeverStarted && ending.status != Status::Running &&
                        ending.status != Status::Stopped;
  rollout.status = possible ? ending.status : Status::Aborted;
  rollout.last_turn = false;
  rollout.held = false;
  rollout.reward = finite(ending.reward);
  rollout.raw_reward = finite(ending.raw_reward);
  rollout.nonfinite = ending.reward && !rollout.reward;
  rollout.cause = ending.cause;
  rollout.answer = ending.answer;
  if (rollout.left_out() && !rollout.cause.empty() && first_failure_.empty()) {
    first_failure_ = fmt::format("rollout {} of group {} (prompt {}): {}", sample, group.log.group, group.log.prompt, rollout.cause);
  }
  ledger_.end(rollout.permit, true);
  rollout.left_out() ? group.kept.left_out(sample) : group.kept.ended(sample);
  count_status(group.counted, tallies_, rollout.status);
  if (group.version && rollout.scored()) ask_score(group, sample);
  group.counted.unscored += !rollout.scored();
  group.counted.nonfinite += rollout.nonfinite;
  if (!group.version || !group.version->program().hit || !rollout.scored()) return;
  rollout.hit = judge->hit(group, sample, settled_facts(group));
  if (!rollout.hit) note_hit_fault(group, sample);
  ++group.counted.scored;
  group.counted.hits += rollout.hit.value_or(false);
  const double judged = rollout.raw_reward.value_or(*rollout.reward);
  group.counted.most_reward = std::max(group.counted.most_reward.value_or(judged), judged);
}

// The judge counts them all. Others may take turns beside this, so words wait with the group; a run that stops on a fault
// has nobody beside.
void LiveEngine::note_hit_fault(LiveGroup& group, int sample) {
  if (!group.counted.hit_fault.empty()) return;
  const lang::Program& program = group.version->program();
  group.counted.hit_fault = fmt::format("{}: the `hit` condition faults for rollout {} of group {}, which is neither hit nor miss",
                                        place_of(program, program.hit->span), sample, group.log.group);
  if (settings_.stop_on_fault) {
    fatal_ = Error{"The policy faulted: " + group.counted.hit_fault + ".", "the run stops on a fault, as it was told to"};
  }
}

double LiveEngine::now() const {
  if (settings_.clock) return settings_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Time between iterations is the optimiser's.
void LiveEngine::charge_seconds() {
  if (!in_iteration_ || !ledger_.counts(lang::BaseUnit::Seconds)) return;
  const double time = now();
  ledger_.seconds_passed(std::max(0.0, time - last_event_));
  last_event_ = time;
}

// For the journal, where time decides anything.
std::optional<double> LiveEngine::event_time() const {
  return ledger_.counts(lang::BaseUnit::Seconds) ? std::optional(last_event_) : std::nullopt;
}

// Asked after every event: the search goes on where it ended, since what ran last time mostly still runs.
bool LiveEngine::any_runs() {
  const auto runs = [](const auto& each) { return each.second->running(); };
  const auto from = groups_.from(seen_running_);
  auto found = std::find_if(from, std::as_const(groups_).end(), runs);
  if (found == groups_.end()) found = std::find_if(std::as_const(groups_).begin(), from, runs);
  if (found == groups_.end() || !runs(*found)) return false;
  seen_running_ = found->first;
  return true;
}

Result<Orders> LiveEngine::finish_event(Orders orders) {
  if (fatal_) return *fatal_;
  if (!in_iteration_ || closed_told_) return orders;
  while (!any_runs()) {
    if (ask_batch_wave(orders) || fill_round(orders)) continue;
    drop_expired(orders);
    ask_replay();
    orders.batch_closed = closed_told_ = true;
    break;
  }
  if (fatal_) return *fatal_;
  return orders;
}

std::vector<std::string> LiveEngine::unused_prompts() const {
  const std::shared_lock lock(mutex_);
  return unused_;
}

IterationReport LiveEngine::preview() const {
  const std::lock_guard lock(mutex_);
  return summarize();
}

std::string LiveEngine::budget_used_up() const { return deferred_ == 0 ? ledger_.used_up() : std::string(); }

std::string LiveEngine::used_up() const {
  const std::lock_guard lock(mutex_);
  return budget_used_up();
}

double LiveEngine::seconds_spent() const {
  const std::lock_guard lock(mutex_);
  double seconds = spent_seconds_;
  for (const auto& [number, group] : groups_) seconds += group->counted.seconds;
  return seconds;
}

std::string LiveEngine::policy_name() const {
  const auto active = mailbox_.active();
  return active->policy ? active->policy->program().name : "";
}

std::string LiveEngine::policy_hash() const {
  const auto active = mailbox_.active();
  return active->policy ? active->policy->program().hash : "";
}

}  // namespace allot::engine
