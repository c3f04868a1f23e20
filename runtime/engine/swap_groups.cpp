// Who is under which version: the batch, the groups, and the memory that they share.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap_record.h"
#include "runtime/engine/swap_state.h"
#include "runtime/math/random.h"

namespace allot::engine {

// What concerns the batch is asked of this version from here on.
void LiveEngine::enter(std::shared_ptr<Version> version) {
  if (!version || version == version_) return;
  release(std::exchange(version_, std::move(version)));
  policy_ = version_->policy;
  judge_ = &version_->judge;
  points_ = version_->points;
  demands_ = version_->demands;
  replay_age_ = version_->replay_age;
}

namespace {

// A function of what is decided about, so that neither arrival nor resumption changes it.
bool falls_to_canary(std::uint64_t seed, std::string_view prompt, int iteration, int place, int round, double share) {
  std::uint64_t key = math::combine(seed, math::hash_text("canary"));
  key = math::combine(key, math::hash_text(prompt));
  return math::uniform(math::combine(key, static_cast<std::uint64_t>(round)), static_cast<std::uint64_t>(iteration),
                       static_cast<std::uint64_t>(place)) < share;
}

}  // namespace

std::shared_ptr<Version> LiveEngine::version_for_batch() const {
  const bool whole = swaps_.canary && swaps_.by_iteration;
  return whole && falls_to_canary(settings_.seed, "", iteration_, 0, 0, swaps_.share) ? swaps_.canary : swaps_.current;
}

const std::shared_ptr<Version>& LiveEngine::version_for_group(const std::string& prompt, int place, int round) const {
  if (!swaps_.canary) return swaps_.current;
  if (swaps_.by_iteration) return version_ == swaps_.canary ? swaps_.canary : swaps_.current;
  return falls_to_canary(settings_.seed, prompt, iteration_, place, round, swaps_.share) ? swaps_.canary : swaps_.current;
}

std::vector<Version*> LiveEngine::versions_in_use() const {
  std::vector<Version*> versions;
  const auto add = [&](const std::shared_ptr<Version>& version) {
    if (version && std::find(versions.begin(), versions.end(), version.get()) == versions.end()) versions.push_back(version.get());
  };
  add(version_);
  add(swaps_.current);
  add(swaps_.canary);
  for (const auto& [number, group] : groups_) add(group->version);
  return versions;
}

namespace {

// Those that are not 0: there may be many versions.
void add_left(std::map<std::string, double>& left, const Version& version) {
  if (version.counts().decisions() == 0) return;
  std::map<std::string, double> counts;
  add_version_metrics(counts, version, Zeros::LeftOut);
  for (const auto& [name, value] : counts) {
    if (value != 0) left[name] += value;
  }
}

}  // namespace

// The last to hold a version takes its counts along. Whoever else holds it may do so longer than the iteration lasts:
// what is left that way is counted at its end.
void LiveEngine::retire(std::shared_ptr<Version> version) {
  if (!version) return;
  const auto listed = std::find(left_.begin(), left_.end(), version);
  const bool is_listed = listed != left_.end();
  if (version.use_count() > (is_listed ? 2 : 1)) {
    if (!is_listed) left_.push_back(std::move(version));
    return;
  }
  if (is_listed) left_.erase(listed);
  add_left(retired_, *version);
  for (std::string& warning : version->judge.take_warnings()) messages_.push_back("warning: " + std::move(warning));
  release(std::move(version));
}

// What is told of versions that no part of the engine asks any more.
std::map<std::string, double> LiveEngine::counts_left() const {
  std::map<std::string, double> counts = retired_;
  const std::vector<Version*> used = versions_in_use();
  for (const std::shared_ptr<Version>& version : left_) {
    if (std::find(used.begin(), used.end(), version.get()) == used.end()) add_left(counts, *version);
  }
  return counts;
}

void LiveEngine::release_left() {
  for (std::shared_ptr<Version>& version : std::exchange(left_, {})) release(std::move(version));
}

// Code is freed without the lock.
void LiveEngine::release(std::shared_ptr<Version> version) {
  if (version && version.use_count() == 1) gone_.push_back(std::move(version));
}

// All but those that are still being compiled: their end would wait for it.
std::vector<std::shared_ptr<Version>> LiveEngine::take_gone() {
  const auto stays = [](const std::shared_ptr<Version>& version) { return version->policy->is_compiling(); };
  const auto going = std::partition(gone_.begin(), gone_.end(), stays);
  std::vector<std::shared_ptr<Version>> taken(std::make_move_iterator(going), std::make_move_iterator(gone_.end()));
  gone_.erase(going, gone_.end());
  return taken;
}

// An ended group is asked of once more where advantages are shaped group by group.
void LiveEngine::let_go(LiveGroup& group) {
  if (!group.version || group.version->points.has(lang::Point::Shape, lang::Subject::Group)) return;
  retire(std::exchange(group.version, nullptr));
}

// Groups of the canary that wait go on under the active version: no later process would know of theirs.
void LiveEngine::leave_canary(std::shared_ptr<Version> next, SwapReport& report) {
  for (const auto& [number, group] : groups_) {
    if (deferred_ == 0 || !swaps_.canary) break;
    if (group->deferred && group->version == swaps_.canary) adopt(*group, swaps_.current, report);
  }
  retire(std::exchange(swaps_.canary, std::move(next)));
}

// A group goes on under another version: its own state is carried over, what is kept of its actions is made from its log.
void LiveEngine::adopt(LiveGroup& group, const std::shared_ptr<Version>& next, SwapReport& report) {
  if (!group.version || group.version == next) return;
  Version& before = *group.version;
  const auto carried = StatePlan(before.program(), next->program()).carry_group(group.state);
  std::vector<int> fired;
  for (const int handler : next->points.turn_handlers()) {
    const auto was_asked = [&](int other) { return before.points.number(other) == next->points.number(handler); };
    if (std::any_of(group.turn_handlers_fired.begin(), group.turn_handlers_fired.end(), was_asked)) fired.push_back(handler);
  }
  group.turn_handlers_fired = std::move(fired);
  group.kept = KeptStatistics::rebuild(next->plan, group.log);
  audit_.append(adopt_record(iteration_, group.log.group, before.number, next->number, carried));
  retire(std::exchange(group.version, next));
  for (std::size_t sample = 0; sample < group.log.rollouts.size(); ++sample) {
    group.log.rollouts[sample].hit = next->judge.hit(group, static_cast<int>(sample), run_facts(group));
  }
  ++report.groups_moved;
  report.groups_restarted += carried == StatePlan::Carried::Restarted;
}

// Store, ledger and waiting groups in the form of the next version, or nothing is changed.
std::optional<Error> LiveEngine::take_memory(const PreparedSwap& prepared, SwapReport& report) {
  const lang::Program& program = prepared.version->program();
  const StatePlan plan(swaps_.current->program(), program);
  if (!prepared.then) report.state = plan.changes();
  const bool same = same_frame(*swaps_.current, *prepared.version);
  if (same && !prepared.then) return std::nullopt;
  // Where budgets alone differ, a large memory need not be carried from here to here.
  if (prepared.then || !same_states(swaps_.current->program().states, program.states)) {
    auto store = prepared.then ? Result<StateStore>(std::move(*prepared.then)) : plan.carry(store_, prepared.ahead.get());
    if (!store) return store.error();
    store_ = *std::move(store);
    supply(program, settings_.inputs, store_);
    for (const auto& [number, group] : stored_) (void)plan.carry_group(group->state);
  }
  if (same) return std::nullopt;
  Ledger ledger(program, prepared.version->policy->parameters(), settings_.tokens_per_turn, !settings_.shadow);
  ledger.restore(ledger_.every_account(), ledger_.conservation(), ledger_.begun(), ledger_.overruns());
  ledger_ = std::move(ledger);
  return std::nullopt;
}

void LiveEngine::keep_replaced(const Version& version, const std::shared_ptr<StateThen>& state) {
  if (settings_.run_folder.empty()) {
    for (Replaced& earlier : swaps_.before) earlier.state.reset();
  }
  swaps_.before.push_back({version.number, state->at, version.hash(), version.policy->origin(), state});
  if (swaps_.before.size() > Swaps::most_replaced) swaps_.before.erase(swaps_.before.begin());
}

// At the barrier: what is on disk need not be held. What is not, since who asked is slow or has gone, or the disk was full,
// is written behind it.
void LiveEngine::keep_states() {
  for (Replaced& replaced : swaps_.before) {
    if (settings_.run_folder.empty() || !replaced.state) continue;
    if (replaced.state->failed.exchange(false)) {
      messages_.push_back("note: the state as of the swap could not be kept: " + replaced.state->problem);
    }
    if (replaced.state->on_disk) replaced.state.reset();
  }
}

std::optional<Error> LiveEngine::take_over(const SwapRequest& request, PreparedSwap& prepared, SwapReport& report) {
  // Within an iteration memory is what it was at its start.
  if (!in_iteration_) head_ = std::make_shared<const HeadText>(make_head());
  Snapshot then = snapshot();
  then.swapped_to = swaps_.current->hash();
  auto state = std::make_shared<const Snapshot>(std::move(then));
  if (auto error = take_memory(prepared, report)) return error;
  const std::shared_ptr<Version> next = std::move(prepared.version);
  next->become(swaps_.next_number++);
  report.version = report.change = next->number;
  remember(request.id);
  audit_.version(report.iteration, next->number, prepared.record);
  keep_origin(*next);
  prepared.left = std::make_shared<StateThen>(swaps_.current->number, audit_.place(), std::move(state));
  if (request.back) {
    swaps_.before.pop_back();
  } else {
    keep_replaced(*swaps_.current, prepared.left);
  }
  if (request.now || deferred_ > 0) {
    for (const auto& [number, group] : groups_) {
      if (group->deferred || (request.now && !group->closed)) adopt(*group, next, report);
    }
  }
  tell_of_canary(next.get(), report);
  trust_.policy_changed();
  retire(std::exchange(swaps_.canary, nullptr));
  auto old = std::exchange(swaps_.current, next);
  if (!in_iteration_) {
    enter(next);
    trust_.renew();
    swaps_.since_barrier = true;
    head_ = std::make_shared<const HeadText>(make_head());
    swaps_.saved = swaps_.next_number - 1;
  }
  retire(std::move(old));
  return std::nullopt;
}

}  // namespace allot::engine
