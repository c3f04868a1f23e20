// An iteration begins and ends. At its end, and only there, what the policy remembers is written.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/engine/background.h"
#include "runtime/engine/live_engine.h"
#include "runtime/engine/stopwatch.h"

namespace allot::engine {

using lang::Point;

Result<Orders> LiveEngine::begin_iteration(int iteration, const std::vector<std::string>& prompts) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  const Event event(*this);
  const Stopwatch watch(spent_seconds_);
  if (fatal_) return *fatal_;
  if (in_iteration_) {
    return Error{fmt::format("Iteration {} began before iteration {} ended.", iteration, iteration_),
                 "call end_iteration first; a trainer that was restarted in the middle of it restores its checkpoint's state and "
                 "begins it again"};
  }
  if (unrestored_) {
    return Error{fmt::format("The run folder {} holds the state of a run, and this engine was not given any.", settings_.run_folder.string()),
                 "restore() that state or an earlier one of the run first; to begin anew, name another folder"};
  }
  if (iteration <= iteration_) {
    return Error{fmt::format("Iteration {} cannot begin after iteration {}: iterations count up.", iteration, iteration_),
                 fmt::format("go on with iteration {}, or restore an earlier state", iteration_ + 1)};
  }
  if (iteration == std::numeric_limits<int>::max()) {
    return Error{fmt::format("Iteration {} cannot begin: no number comes after it.", iteration), "number iterations from 0"};
  }
  if (policy_) {
    if (auto fits = check_inputs(policy_->program(), settings_.inputs, prompts); !fits) return fits.error();
  }
  if (const std::vector<int> missing = audit_.missing_between(iteration_, iteration); !missing.empty()) {
    const std::string from = iteration_ < 0 ? "begins anew" : fmt::format("goes on from the state of iteration {}", iteration_);
    return Error{fmt::format("Iteration {} cannot begin: the run {}, and {} {} had ended after that.", iteration, from,
                             missing.size() == 1 ? "iteration" : "iterations", fmt::join(missing, ", ")),
                 fmt::format("restore() the state of your checkpoint, which knows of them, or begin iteration {} again", missing.front())};
  }
  gather();
  last_event_ = now();
  audit_.begun(prompts, event_time());
  iteration_ = iteration;
  in_iteration_ = true;
  closed_told_ = false;
  groups_.remove_if([](const LiveGroup& group) { return !group.deferred; });
  for (const auto& [number, group] : groups_) group->active = group->placed = false;
  replayed_.clear();
  tallies_ = {};
  messages_.clear();
  first_failure_.clear();
  first_shortage_.clear();
  begun_used_up_ = !budget_used_up().empty();
  overruns_before_ = ledger_.overruns();
  hit_fault_told_ = false;
  release_left();
  retired_.clear();
  enter(version_for_batch());
  observed_ = false;
  for (Version* const version : versions_in_use()) {
    version->reset_counts();
    observed_ = observed_ || version->plan.observations;
  }
  ledger_.begin_iteration();
  int rounds = 1;
  if (policy_ && policy_->program().refill) {
    const std::int64_t declared = lang::value(policy_->program().refill->rounds, policy_->parameters());
    rounds = static_cast<int>(std::clamp<std::int64_t>(declared, 1, 1 << 20));
  }
  known_ = static_cast<std::int64_t>(pool_.prompts().size());
  audit_.begin(iteration, prompts.size());
  Selection chosen = select(prompts);
  if (chosen.order.empty()) warn_nothing_to_draw(prompts);
  places_a_batch_ = chosen.count;
  rounds_together_ = demands_.defers || chosen.count > settings_.slots || !groups_.empty();
  const int places = rounds_together_ ? std::max(chosen.count, settings_.slots) : chosen.count;
  offered_ = std::make_shared<const std::vector<std::string>>(prompts);
  publish();
  batch_ = Batch(settings_.slots, places, rounds, std::move(chosen.order));
  Orders orders;
  first_fill(orders);
  return finish_event(std::move(orders));
}

// Groups of this iteration in order of slot and round, which does not depend on which ended first.
std::vector<const LiveGroup*> LiveEngine::in_order() const {
  std::vector<const LiveGroup*> groups;
  for (const auto& [number, group] : groups_) {
    if (group->active || group->closed) groups.push_back(group.get());
  }
  std::sort(groups.begin(), groups.end(), [](const LiveGroup* a, const LiveGroup* b) {
    return std::tuple(a->log.slot, a->log.round, a->log.group) < std::tuple(b->log.slot, b->log.round, b->log.group);
  });
  return groups;
}

// State and history as they will be read in the next iteration. `update` sees the history without this iteration's
// groups: it is told of those itself.
void LiveEngine::update_state() {
  store_.decay();
  pool_.next_barrier();
  if (const int handler = points_.find(Point::Update, lang::Subject::Batch); handler != no_handler) {
    BatchFacts batch;
    for (const auto& [number, group] : groups_) group->kept.cover(version_->plan, group->log);
    for (const LiveGroup* group : in_order()) {
      if (!group->closed) continue;
      GroupFacts facts = group->facts(current_turn(group->log));
      facts.prompt = batch.place(group->log.prompt);
      facts.category = batch.category_place(group->log.category);
      batch.ended.push_back(facts);
      if (group->fate != Fate::Trained) continue;
      batch.groups.push_back(facts);
      batch.prompts.push_back(facts.prompt);
    }
    describe(batch);
    ask_barrier(handler, batch);
  }
  if (!demands_.history) return;
  learn_history();
  if (const int handler = points_.find(Point::Update, lang::Subject::Pool); handler != no_handler) {
    ask_barrier(handler, pool_facts(*offered_));
  }
  pass_epoch();
}

void LiveEngine::ask_barrier(int handler, const BatchFacts& facts) {
  count_pool(facts.of_pool ? facts : BatchFacts{});
  const Decision decision = judge_->ask_barrier(handler, facts, run_facts(), store_);
  audit_.decided(*judge_, decision, iteration_, {}, 0, shadow() ? Carried::Shadow : Carried::Out);
  note_fault(*judge_, decision);
  if (shadow() || decision.verdict.rule < 0) return;
  const auto name = [&](std::int64_t position) -> const std::string& {
    return facts.distinct[static_cast<std::size_t>(position)];
  };
  const Verdict& verdict = decision.verdict;
  for (std::size_t i = 0; i < verdict.evicted.size(); ++i) {
    const std::string& prompt = name(facts.pool[static_cast<std::size_t>(verdict.evicted[i])]);
    const bool for_good = verdict.prompt == lang::PromptField::EvictForGood || verdict.untils.empty();
    const std::int64_t until = for_good ? PromptHistory::for_good : verdict.untils[std::min(i, verdict.untils.size() - 1)];
    pool_.evict(prompt, until);
    ++tallies_.evicted;
    audit_.evicted(iteration_, prompt, until);
  }
  for (const int position : verdict.readmitted) {
    pool_.readmit(name(position));
    ++tallies_.readmitted;
    audit_.evicted(iteration_, name(position), 0);
  }
}

// What this iteration's groups add to what is known of their prompts, and the prompts that their verdicts send away.
void LiveEngine::learn_history() {
  for (const LiveGroup* group : in_order()) {
    const std::string& prompt = group->log.prompt;
    if (group->log.iteration == iteration_) pool_.opened(prompt, iteration_);
    if (group->closed) {
      PromptHistory& history = pool_.change(prompt);
      const GroupCounts counts = group->log.counts();
      history.flat += group->flat;
      history.started += counts.started;
      history.hits += counts.hits;
      history.misses += counts.misses;
      history.last_scored = counts.scored;
      history.last_hits = counts.hits;
      for (const double reward : group->log.scored_rewards()) history.add(reward);
    }
    switch (group->prompt_field) {
      case lang::PromptField::Default: continue;
      case lang::PromptField::Evict:
        pool_.evict(prompt, group->until);
        warn_without_epochs(group->until);
        break;
      case lang::PromptField::EvictForGood: pool_.evict(prompt, PromptHistory::for_good); break;
      case lang::PromptField::Readmit: pool_.readmit(prompt); break;
    }
    ++(group->prompt_field == lang::PromptField::Readmit ? tallies_.readmitted : tallies_.evicted);
    audit_.evicted(iteration_, prompt, pool_.history(prompt).away_until);
    groups_.find(group->log.group)->prompt_field = lang::PromptField::Default;
  }
}

// `epoch` is asked at the beginning of the new one, which it reads.
void LiveEngine::pass_epoch() {
  if (!pool_.epoch_over()) return;
  pool_.next_epoch();
  const int handler = points_.find(Point::Epoch, lang::Subject::Pool);
  if (handler != no_handler) ask_barrier(handler, pool_facts(*offered_));
}

IterationReport LiveEngine::summarize() const {
  IterationReport report;
  report.iteration = iteration_;
  report.rounds = batch_.rounds();
  for (const LiveGroup* group : in_order()) {
    if (group->closed && group->fate == Fate::Trained) report.trained.push_back(group->log.group);
  }
  report.replayed = replayed_;
  const int kept = static_cast<int>(report.trained.size());
  if (batch_.open_slots() > 0) {
    const auto fallback = policy_->program().refill ? policy_->program().refill->then
                                                    : lang::RefillFallback::TrainPartial;
    const int groups = static_cast<int>(in_order().size());
    report.message = refill_message(batch_, groups, kept, groups, fallback);
    report.aborted = fallback == lang::RefillFallback::Abort;
    if (fallback != lang::RefillFallback::TrainPartial) report.trained.clear(), report.replayed.clear();
  }
  report.skip_update = report.trained.empty() && report.replayed.empty();
  return report;
}

Result<IterationReport> LiveEngine::end_iteration() {
  if (auto parents = run_lock_.of_parent()) return *parents;
  const Event event(*this);
  const Stopwatch watch(spent_seconds_);
  if (fatal_) return *fatal_;
  if (!in_iteration_) return Error{"No iteration is under way.", "call begin_iteration first"};
  const auto open = std::count_if(groups_.begin(), groups_.end(), [](const auto& each) {
    return each.second->running() || each.second->waits;
  });
  if (open > 0) {
    return Error{fmt::format("Iteration {} cannot end: {} groups still have rollouts that run.", iteration_, open),
                 "report how each of them ended"};
  }
  gather();
  note_losses();
  IterationReport report = summarize();
  run_.skipped_updates += report.skip_update;
  note_replayed(report);
  if (auto error = never_asked()) return *error;
  if (judge_) {
    update_state();
    store_.renew();
    pool_.renew();
    keep_for_replay(report);
  }
  keep_states();
  add_messages(report);
  report.metrics = metrics(report);
  trust_.renew();
  release_left();
  in_iteration_ = false;
  unused_ = unused_of_offered();
  for (const auto& [number, group] : groups_) {
    if (group->closed) release(std::exchange(group->version, nullptr));
  }
  const int ending = swaps_.current ? swaps_.current->number : 0;
  take_waiting_swap();
  swaps_.since_barrier = false;
  enter(swaps_.current);
  audit_.end(report);
  // Replaced at this end, so it is of this one.
  if (!swaps_.before.empty() && swaps_.before.back().number == ending) {
    Replaced& replaced = swaps_.before.back();
    replaced.at = audit_.place();
    if (replaced.state) replaced.state->at = replaced.at;
  }
  head_ = std::make_shared<const HeadText>(make_head());
  swaps_.saved = swaps_.next_number - 1;
  publish();
  // What is remembered is written behind the caller's back, from a moment that the next barrier leaves as it is.
  Background::Task beside;
  if (files_) {
    beside = [this, files = files_, change = swaps_.saved, run = settings_.run_folder, states = unkept(swaps_.before),
              taken = std::make_shared<const Snapshot>(snapshot())]() mutable -> std::optional<Error> {
      for (const auto& state : std::exchange(states, {})) keep_state(run, *state);
      const auto done = files->write(*std::exchange(taken, nullptr));
      if (!done) return done.error();
      kept_change_ = change;
      return std::nullopt;
    };
  }
  auto written = audit_.barrier(std::move(beside));
  if (!written) return written.error();
  if (fatal_) return *fatal_;
  return report;
}

// Of the host's own order: what was opened is gone from it, and so is what may not be drawn.
std::vector<std::string> LiveEngine::unused_of_offered() const {
  std::multiset<std::string_view> opened;
  for (const auto& [number, group] : groups_) {
    if (group->deferred || group->active) opened.insert(group->log.prompt);
  }
  std::vector<std::string> names;
  for (const std::string& prompt : *offered_) {
    const auto found = opened.find(prompt);
    if (found != opened.end()) {
      opened.erase(found);
    } else if (!pool_.away(pool_.history(prompt))) {
      names.push_back(prompt);
    }
  }
  return names;
}

}  // namespace allot::engine
