// Events that change nothing but their own group: a turn after which everything goes on, the end of one rollout of
// several. They run beside those of other groups. What may reach further (a verdict, a budget that is used up, the end of
// a group) is left to who has the whole engine; then nothing has happened here, so an event is never done by half.
#include <algorithm>
#include <utility>

#include "runtime/engine/answer_text.h"
#include "runtime/engine/live_engine.h"
#include "runtime/engine/stopwatch.h"

namespace allot::engine {

using lang::Point;

namespace {

// A judge of the group's version, for as long as this lives.
class BorrowedJudge {
 public:
  explicit BorrowedJudge(Version& version) : version_(version), judge_(version.beside.take(version.policy, version.number)) {}
  ~BorrowedJudge() { version_.beside.give_back(std::move(judge_)); }
  BorrowedJudge(const BorrowedJudge&) = delete;
  BorrowedJudge& operator=(const BorrowedJudge&) = delete;
  Judge& operator*() const { return *judge_; }
  Judge* operator->() const { return judge_.get(); }

 private:
  Version& version_;
  std::unique_ptr<Judge> judge_;
};

}  // namespace

// The group of a rollout, where anything may pass at all: a budget of seconds is charged at every event, and an observer
// sees one answer at a time.
LiveGroup* LiveEngine::may_pass(RolloutRef ref) {
  const bool alone = fatal_ || observer_ || ledger_.counts(lang::BaseUnit::Seconds);
  return alone || ref.sample < 0 ? nullptr : groups_.find_beside(ref.group);
}

// Whether groups of this batch open and close without a glance at the others that run: each has a slot of its own, and
// nobody is asked about all of them. Then only closing itself is done by one at a time.
bool LiveEngine::closes_beside() const {
  return in_iteration_ && !rounds_together_ && !(judge_ != nullptr && points_.has(Point::Wave, lang::Subject::Batch)) &&
         !settings_.stop_on_fault && !fatal_ && !observer_ && !ledger_.counts(lang::BaseUnit::Seconds);
}

// Turn points that come once the rollout is at its next turn, or (`goes_on` false) has ended.
void LiveEngine::add_turn_points(Asked& asked, const LiveGroup& group, int sample, bool goes_on) const {
  std::optional<int> least;
  for (std::size_t i = 0; i < group.log.rollouts.size(); ++i) {
    const RolloutLog& rollout = group.log.rollouts[i];
    const bool own = static_cast<int>(i) == sample;
    if (!rollout.outstanding() || (own && !goes_on)) continue;
    if (rollout.last_turn) return;  // how it ended is open
    const int turns = rollout.turns() + own;
    least = least ? std::min(*least, turns) : turns;
  }
  if (!least || *least <= group.turn_passed) return;
  asked.passed = least;
  for (int turn = group.turn_passed + 1; turn <= *least; ++turn) {
    if (!asks_turn(group, turn)) continue;
    ++asked.count;
    asked.handler = group.version->points.find(Point::Turn, turn);
    asked.sample = -1;
    asked.turn = turn;
  }
}

LiveEngine::Asked LiveEngine::asked_after(const LiveGroup& group, int sample, const Turn& turn) const {
  Asked asked;
  if (!group.version || turn.last) return asked;
  const RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(sample)];
  const Points& points = group.version->points;
  if (points.asks_rollouts()) {
    const auto add = [&](int handler) {
      ++asked.count;
      asked.handler = handler;
      asked.sample = sample;
      asked.turn = rollout.turns() + 1;
    };
    for (const int handler : points.handlers(Point::Tokens)) {
      const std::int64_t every = points.number(handler);
      if ((rollout.tokens + turn.tokens) / every != rollout.tokens / every) add(handler);
    }
    if (const int handler = points.find(Point::Turn, lang::Subject::Rollout); handler != no_handler) add(handler);
  }
  add_turn_points(asked, group, sample, true);
  return asked;
}

namespace {

// Distances between rollouts cannot be taken back where the answer leads further.
bool may_be_asked_beside(const LiveGroup& group, int handler) {
  const Version& version = *group.version;
  return version.own_group[static_cast<std::size_t>(handler)] && !version.plan.longest_edit_prefix;
}

}  // namespace

// Where turns are charged nobody is asked here: the answer would have to be there before the accounts are changed.
std::optional<Orders> LiveEngine::pass_turn(RolloutRef ref, const Turn& turn) {
  const std::shared_lock shared(mutex_);
  LiveGroup* const found = may_pass(ref);
  if (found == nullptr) return std::nullopt;
  LiveGroup& group = *found;
  const std::lock_guard own(group.own.mutex);
  const Stopwatch watch(group.counted.seconds);
  if (!group.running() || static_cast<std::size_t>(ref.sample) >= group.log.rollouts.size()) return std::nullopt;
  RolloutLog& rollout = group.log.rollouts[static_cast<std::size_t>(ref.sample)];
  if (!rollout.live()) return std::nullopt;
  const Asked asked = asked_after(group, ref.sample, turn);
  const bool accounts = ledger_.charges_turns();
  if (asked.count > 1 || (asked.count == 1 && (accounts || !may_be_asked_beside(group, asked.handler)))) return std::nullopt;
  std::unique_lock order(order_, std::defer_lock);
  if (accounts) order.lock();
  if (!turn.last && accounts && !ledger_.covers_next(rollout.permit, turn)) return std::nullopt;

  std::optional<BorrowedJudge> judge;
  std::optional<Decision> decision;
  std::optional<FrameText> frame;
  const GroupLog::Mark before = asked.count > 0 ? group.log.mark(ref.sample) : GroupLog::Mark{};
  take_turn(group, ref.sample, turn);
  if (asked.count > 0) {
    judge.emplace(*group.version);
    decision = (*judge)->consider(asked.handler, group, asked.sample, asked.turn, settled_facts(group), store_);
    if (decision->fault || !changes_nothing(decision->verdict)) {
      group.log.go_back(ref.sample, before);
      --group.counted.turns;
      group.counted.tokens -= turn.tokens;
      group.counted.calls -= turn.calls;
      return std::nullopt;
    }
    if (audit_.on()) frame = frame_of(**judge, decision->handler);
  }
  if (!order && Ledger::overruns(rollout.permit, turn)) order.lock();
  audit_.turn(ref, turn, observes(group), std::nullopt);
  ledger_.settle(rollout.permit, turn);
  if (!turn.last) (void)ledger_.reserve_turn(rollout.permit);
  if (order) order.unlock();
  if (decision) {
    const Carried carried = shadow() ? Carried::Shadow : Carried::Out;
    if (frame) audit_.same(**judge, *decision, *frame, iteration_, {ref.group, asked.sample}, asked.turn, carried);
    (*judge)->keep(*decision, group, asked.turn);
    group.gate.asked = group.gate.asked || asked.sample < 0;
    if (asked.sample < 0 && group.version->points.numbered(asked.handler)) group.turn_handlers_fired.push_back(asked.handler);
  }
  if (asked.passed) group.turn_passed = *asked.passed;
  Orders orders;
  if (group.version) hold_or_release(group, orders);
  return orders;
}

std::optional<Orders> LiveEngine::pass_ending(RolloutRef ref, const Ending& ending) {
  // Which failure was the first is told.
  if (ending.status != Status::Completed && ending.status != Status::Truncated) return std::nullopt;
  const std::shared_lock shared(mutex_);
  LiveGroup* const found = may_pass(ref);
  if (found == nullptr) return std::nullopt;
  LiveGroup& group = *found;
  const std::lock_guard own(group.own.mutex);
  const Stopwatch watch(group.counted.seconds);
  const auto sample = static_cast<std::size_t>(ref.sample);
  if (!group.running() || sample >= group.log.rollouts.size() || !group.log.rollouts[sample].outstanding()) return std::nullopt;
  const auto outstanding = [](const RolloutLog& rollout) { return rollout.outstanding(); };
  if (std::count_if(group.log.rollouts.begin(), group.log.rollouts.end(), outstanding) < 2) return std::nullopt;
  Asked asked;
  std::optional<BorrowedJudge> judge;
  if (group.version) {
    const Points& points = group.version->points;
    if (points.has(Point::Score) || points.has(Point::Result) || !group.version->own_hit) return std::nullopt;
    add_turn_points(asked, group, ref.sample, false);
    if (asked.count > 0) return std::nullopt;
    if (group.version->program().hit) {
      if (settings_.stop_on_fault) return std::nullopt;  // it would be everybody's end
      judge.emplace(*group.version);
    }
  }
  {
    std::unique_lock order(order_, std::defer_lock);
    if (ledger_.counts()) order.lock();
    audit_.ended(ref, ending, std::nullopt);
    record_ending(group, ref.sample, ending, judge ? &**judge : nullptr);
  }
  Orders orders;
  if (group.log.rollouts[sample].scored()) ask_result(group, orders);
  if (asked.passed) group.turn_passed = *asked.passed;
  if (group.version) hold_or_release(group, orders);
  return orders;
}

// What groups counted for themselves, before it is told or they go.
void LiveEngine::gather() {
  for (const auto& [number, group] : groups_) {
    const OwnTallies own = std::exchange(group->counted, {});
    if (!own.hit_fault.empty() && !hit_fault_told_) messages_.push_back("fault: " + own.hit_fault + ".");
    hit_fault_told_ = hit_fault_told_ || !own.hit_fault.empty();
    tallies_.turns += own.turns;
    tallies_.tokens += own.tokens;
    tallies_.calls += own.calls;
    tallies_.completed += own.completed;
    tallies_.truncated += own.truncated;
    tallies_.unscored += own.unscored;
    tallies_.nonfinite += own.nonfinite;
    tallies_.points_without_handler += own.points_without_handler;
    run_.scored += own.scored;
    run_.hits += own.hits;
    if (own.most_reward) run_.most_reward = std::max(run_.most_reward.value_or(*own.most_reward), *own.most_reward);
    spent_seconds_ += own.seconds;
  }
}

}  // namespace allot::engine
