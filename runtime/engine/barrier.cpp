// An iteration begins and ends. At its end, and only there, what the policy remembers is written.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/stopwatch.h"

namespace allot::engine {

using lang::Point;

LiveEngine::LiveEngine(const Settings& settings, std::shared_ptr<Policy> policy)
    : settings_(settings), policy_(std::move(policy)),
      trust_(settings.holdout, settings.pause_below, settings.seed),
      last_event_(std::chrono::steady_clock::now()) {
  if (!policy_) return;
  const lang::Program& program = policy_->program();
  judge_.emplace(policy_);
  points_ = Points(program, policy_->parameters());
  plan_ = StatisticsPlan::of(program, policy_->parameters());
  ledger_ = Ledger(program, policy_->parameters(), settings.tokens_per_turn, !settings.shadow);
  store_ = StateStore(program);
}

namespace {

std::optional<Error> check_settings(const Settings& settings) {
  const auto at_least_one = [](const char* name, int value) -> std::optional<Error> {
    if (value >= 1) return std::nullopt;
    return Error{fmt::format("{} is {}, but it must be 1 or more.", name, value), ""};
  };
  if (auto error = at_least_one("slots", settings.slots)) return error;
  if (auto error = at_least_one("group_size", settings.group_size)) return error;
  if (auto error = at_least_one("turn_limit", settings.turn_limit)) return error;
  if (auto error = at_least_one("tokens_per_turn", settings.tokens_per_turn)) return error;
  if (!(settings.holdout >= 0 && settings.holdout <= 1)) {
    return Error{fmt::format("holdout is {}, but it is a share from 0 to 1.", settings.holdout), ""};
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<LiveEngine>> LiveEngine::create(const Settings& settings, std::shared_ptr<Policy> policy) {
  if (auto error = check_settings(settings)) return *error;
  if (policy) {
    auto fits = check_points(policy->program(), policy->parameters(), settings.turn_limit);
    if (!fits) return fits.error();
  }
  std::unique_ptr<LiveEngine> engine(new LiveEngine(settings, std::move(policy)));
  if (!settings.run_folder.empty()) {
    auto audit = Audit::open(settings, engine->policy_.get());
    if (!audit) return audit.error();
    engine->audit_ = *std::move(audit);
  }
  engine->snapshot_ = engine->make_snapshot();
  return engine;
}

Result<Orders> LiveEngine::begin_iteration(int iteration, const std::vector<std::string>& prompts) {
  const std::lock_guard lock(mutex_);
  const Stopwatch watch(spent_seconds_);
  if (fatal_) return *fatal_;
  if (in_iteration_) {
    return Error{fmt::format("Iteration {} began before iteration {} ended.", iteration, iteration_),
                 "call end_iteration first"};
  }
  last_event_ = std::chrono::steady_clock::now();  // time between iterations is the optimiser's, not a rollout's
  iteration_ = iteration;
  in_iteration_ = true;
  closed_told_ = false;
  first_group_ = next_group_;
  groups_.clear();
  tallies_ = {};
  messages_.clear();
  if (judge_) judge_->reset_counts();
  ledger_.begin_iteration();
  int rounds = 1;
  if (policy_ && policy_->program().refill) {
    const std::int64_t declared = lang::value(policy_->program().refill->rounds, policy_->parameters());
    rounds = static_cast<int>(std::clamp<std::int64_t>(declared, 1, 1 << 20));
  }
  batch_ = Batch(settings_.slots, rounds, prompts);
  audit_.begin(iteration, prompts.size());
  Orders orders;
  first_fill(orders);
  return finish_event(std::move(orders));
}

// In order of slot and round, which does not depend on which group ended first.
std::vector<const LiveGroup*> LiveEngine::in_order() const {
  std::vector<const LiveGroup*> groups;
  for (const auto& group : groups_) groups.push_back(group.get());
  std::sort(groups.begin(), groups.end(), [](const LiveGroup* a, const LiveGroup* b) {
    return std::pair(a->log.slot, a->log.round) < std::pair(b->log.slot, b->log.round);
  });
  return groups;
}

void LiveEngine::update_state() {
  store_.decay();
  const int handler = points_.find(Point::Update);
  if (handler == no_handler) return;
  BatchFacts batch;
  for (const LiveGroup* group : in_order()) {
    GroupFacts facts = group->facts(current_turn(group->log));
    const auto known = std::find(batch.distinct.begin(), batch.distinct.end(), group->log.prompt);
    facts.prompt = known - batch.distinct.begin();
    if (known == batch.distinct.end()) batch.distinct.push_back(group->log.prompt);
    batch.ended.push_back(facts);
    if (group->fate != Fate::Trained) continue;
    batch.groups.push_back(facts);
    batch.prompts.push_back(facts.prompt);
  }
  const Decision decision = judge_->ask_update(handler, batch, run_facts(), store_);
  audit_.decided(*judge_, decision, iteration_, -1, 0, shadow() ? Carried::Shadow : Carried::Out);
  note_fault(decision);
}

IterationReport LiveEngine::summarize() const {
  IterationReport report;
  report.iteration = iteration_;
  report.rounds = batch_.rounds();
  for (const LiveGroup* group : in_order()) {
    if (group->closed && group->fate == Fate::Trained) report.trained.push_back(group->log.group);
  }
  const int kept = static_cast<int>(report.trained.size());
  if (batch_.open_slots() > 0) {
    const auto fallback = policy_->program().refill ? policy_->program().refill->then
                                                    : lang::RefillFallback::TrainPartial;
    const int groups = static_cast<int>(groups_.size());
    report.message = refill_message(batch_, groups, kept, groups, fallback);
    report.aborted = fallback == lang::RefillFallback::Abort;
    if (fallback != lang::RefillFallback::TrainPartial) report.trained.clear();
  }
  report.skip_update = report.trained.empty();
  return report;
}

Result<IterationReport> LiveEngine::end_iteration() {
  const std::lock_guard lock(mutex_);
  const Stopwatch watch(spent_seconds_);
  if (fatal_) return *fatal_;
  if (!in_iteration_) return Error{"No iteration is under way.", "call begin_iteration first"};
  const auto open = std::count_if(groups_.begin(), groups_.end(), [](const auto& group) { return !group->closed; });
  if (open > 0) {
    return Error{fmt::format("Iteration {} cannot end: {} groups still have rollouts that run.", iteration_, open),
                 "report how each of them ended"};
  }
  IterationReport report = summarize();
  run_.skipped_updates += report.skip_update;
  if (auto error = never_asked()) return *error;
  if (judge_) update_state();
  add_messages(report);
  report.metrics = metrics(report);
  in_iteration_ = false;
  unused_ = batch_.unused();
  snapshot_ = make_snapshot();
  auto written = audit_.barrier(report, snapshot_);
  if (!written) return written.error();
  if (fatal_) return *fatal_;
  return report;
}

// A policy that nobody asks is a mistake of the host, unless its points could not come (faults.md 31).
std::optional<Error> LiveEngine::never_asked() {
  if (!judge_ || run_.asked || policy_->program().handlers.empty()) return std::nullopt;
  const bool in_time = judge_->counts().decisions() > tallies_.late_questions;
  const bool first = !run_.first_iteration_over;
  run_.first_iteration_over = true;
  run_.asked = in_time;
  const bool only_update = std::all_of(policy_->program().handlers.begin(), policy_->program().handlers.end(),
                                       [](const lang::Handler& handler) { return handler.point == Point::Update; });
  if (in_time || !first || only_update) return std::nullopt;
  const std::string what = fmt::format("policy {} loaded, 0 decisions in iteration {}", policy_name(), iteration_);
  if (groups_.empty()) {
    messages_.push_back("warning: " + what + ": no group was opened.");
  } else if (points_.has(Point::Turn) && tallies_.turns == 0) {
    return Error{what + ": rollouts ended, but no turn of theirs was reported.",
                 "the host must call turn() after every executed turn; it does not serve `turn` points otherwise"};
  } else {
    messages_.push_back("warning: " + what + ": every group ended before one of its decision points came.");
  }
  return std::nullopt;
}

// A hit condition that nothing has ever met is more often a wrong scale than a weak model (faults.md 12).
void LiveEngine::warn_without_hits() {
  if (!policy_ || !policy_->program().hit || run_.warned_without_hits || run_.scored == 0 || run_.hits > 0) return;
  run_.warned_without_hits = true;
  messages_.push_back(fmt::format("warning: no reward in this run has met the hit condition (n = {}, max {}).",
                                  run_.scored, *run_.most_reward));
}

namespace {

bool is_shaped(lang::Fact fact) {
  using lang::Fact;
  switch (fact) {
    case Fact::Reward:
    case Fact::Rewards:
    case Fact::RewardMean:
    case Fact::RewardMin:
    case Fact::RewardMax:
    case Fact::RewardSum:
    case Fact::RewardVariance:
    case Fact::RewardStd:
    case Fact::Flat: return true;
    default: return false;
  }
}

const lang::ReadKey* shaped_read(const lang::Program& program) {
  for (const lang::Handler& handler : program.handlers) {
    if (handler.point == Point::Update) continue;  // it decides nothing
    for (const auto* keys : {&handler.reads, &handler.columns}) {
      for (const lang::ReadKey& key : *keys) {
        if (is_shaped(key.fact)) return &key;
      }
    }
  }
  return nullptr;
}

}  // namespace

// A gate on what is trained on passes groups whose shaping alone differs (faults.md 4).
void LiveEngine::warn_shaped_gate() {
  if (!policy_ || !policy_->program().source || !settings_.has_raw_reward || run_.told_shaped_gate) return;
  run_.told_shaped_gate = true;
  const lang::ReadKey* const key = shaped_read(policy_->program());
  if (key == nullptr) return;
  const lang::Program& program = policy_->program();
  messages_.push_back(
      fmt::format("warning: {}: the policy decides on {}, the shaped reward that is also trained on, while this world "
                  "gives a raw one; g.raw_rewards and `hit` read that.",
                  place_of(program, program.source->place(key->span.begin).line), key->text));
}

void LiveEngine::add_messages(IterationReport& report) {
  warn_without_hits();
  warn_shaped_gate();
  if (tallies_.starts_cut > 0 || tallies_.budget_stops > 0) {
    messages_.push_back(fmt::format("budget: {} rollouts could not be started and {} were ended early.",
                                    tallies_.starts_cut, tallies_.budget_stops));
  }
  if (judge_) {
    for (std::string& warning : judge_->take_warnings()) messages_.push_back("warning: " + std::move(warning));
    if (auto paused = settings_.shadow ? std::nullopt : trust_.review()) messages_.push_back(*std::move(paused));
    if (std::string note = policy_->native_note(); !note.empty() && !run_.told_native_note) {
      run_.told_native_note = true;
      messages_.push_back("note: the policy runs in the evaluator: " + note);
    }
  }
  for (const std::string& message : messages_) {
    report.message += (report.message.empty() ? "" : "\n") + message;
    audit_.note(iteration_, message);
  }
}

}  // namespace allot::engine
