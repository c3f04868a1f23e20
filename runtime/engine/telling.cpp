// What an iteration tells of beside its decisions: what is likely to be a mistake of the policy or of the host, failures,
// budgets that ended.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"

namespace allot::engine {

using lang::Point;

namespace {

// Points that may well not come in the first iteration.
bool comes_late(Point point) {
  switch (point) {
    case Point::Update:
    case Point::Epoch:
    case Point::Resume:
    case Point::Replay:
    case Point::Loss:
    case Point::Shape: return true;
    default: return false;
  }
}

}  // namespace

// A policy that nobody asks is a mistake of the host, unless its points could not come (faults.md 31).
std::optional<Error> LiveEngine::never_asked() {
  if (!judge_ || run_.asked || policy_->program().handlers.empty()) return std::nullopt;
  std::int64_t decisions = 0;
  for (const Version* const version : versions_in_use()) decisions += version->counts().decisions();
  const bool in_time = decisions > tallies_.late_questions || !counts_left().empty();
  const bool first = !run_.first_iteration_over;
  run_.first_iteration_over = true;
  run_.asked = in_time;
  const bool may_be_silent = std::all_of(policy_->program().handlers.begin(), policy_->program().handlers.end(),
                                         [](const lang::Handler& handler) { return comes_late(handler.point); });
  if (in_time || !first || may_be_silent) return std::nullopt;
  const std::string what = fmt::format("policy {} loaded, 0 decisions in iteration {}", policy_->program().name, iteration_);
  if (in_order().empty()) {
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

void LiveEngine::warn_without_epochs(std::int64_t until) {
  if (pool_.given() || run_.told_no_epochs || until <= pool_.epoch()) return;
  run_.told_no_epochs = true;
  messages_.push_back("warning: prompts are evicted until an epoch, but no epoch ever ends here, since the engine was not told "
                      "which prompts there are (set_pool): they stay away.");
}

// An empty iteration looks like one whose groups were all dropped.
void LiveEngine::warn_nothing_to_draw(const std::vector<std::string>& prompts) {
  const std::vector<std::string> known = prompts.empty() ? pool_.keys() : prompts;
  if (known.empty() || deferred_ > 0 || !drawable(known).empty()) return;
  messages_.push_back(fmt::format("warning: no prompt may be drawn: all {} are evicted.", known.size()));
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
    // These make the reward, or decide nothing of a group's fate.
    if (comes_late(handler.point) || handler.point == Point::Score) continue;
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
                  place_of(program, key->span), key->text));
}

// What the host took beyond what it had reserved, and the end of a budget of the run, each in the iteration in which it came.
void LiveEngine::add_budget_ends() {
  const std::int64_t overruns = ledger_.overruns() - overruns_before_;
  if (const std::string beyond = ledger_.beyond(); overruns > 0 && !beyond.empty()) {
    messages_.push_back(fmt::format("budget: {} turn{} took more than was reserved: {}.", overruns, overruns == 1 ? "" : "s", beyond));
  }
  const std::string used = swaps_.waiting ? std::string() : budget_used_up();  // a swap may declare more
  if (!begun_used_up_ && !used.empty()) messages_.push_back(fmt::format("the budget of the run is used up: {}.", used));
}

void LiveEngine::add_messages(IterationReport& report) {
  warn_without_hits();
  warn_shaped_gate();
  if (!first_failure_.empty()) {
    messages_.push_back(fmt::format("failures: {} rollouts ended in error, by timeout or aborted; the first was {}.",
                                    tallies_.errors + tallies_.timeouts + tallies_.aborted, first_failure_));
  }
  if (tallies_.starts_cut > 0 || tallies_.budget_stops > 0) {
    messages_.push_back(fmt::format("budget: {} of {} rollouts could not be started and {} were ended early. The first time {}.",
                                    tallies_.starts_cut, tallies_.starts_cut + tallies_.rollouts, tallies_.budget_stops,
                                    first_shortage_));
  }
  add_budget_ends();
  if (judge_) {
    std::vector<Version*> versions = versions_in_use();
    for (const auto& version : left_) versions.push_back(version.get());
    for (Version* const version : versions) {
      for (std::string& warning : version->judge.take_warnings()) messages_.push_back("warning: " + std::move(warning));
    }
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
  std::vector<std::string> notes = audit_.take_untold();
  if (run_lock_.has_moved()) {
    notes.push_back(fmt::format("the folder of the run is not at {} any more: its journal goes on in the old one, and its states are "
                                "written elsewhere or not at all; end the run and resume it where its folder is",
                                settings_.run_folder.string()));
  }
  for (const std::string& untold : notes) {
    report.message += fmt::format("{}note: {}", report.message.empty() ? "" : "\n", untold);
  }
}

}  // namespace allot::engine
