#include "runtime/replay/rollouts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/executable.h"
#include "runtime/engine/judge.h"
#include "runtime/engine/points.h"
#include "runtime/replay/rollout_log.h"

namespace allot::replay {

using engine::LiveGroup;
using engine::RolloutLog;
using engine::Status;
using lang::Point;

namespace {

struct Pending {
  std::size_t place = 0;  // among the outcomes
  std::map<std::int64_t, LoggedRollout> rollouts;
  std::optional<std::int64_t> planned;
};

class Replay {
 public:
  Replay(std::shared_ptr<const lang::Program> program, std::vector<lang::Cell> parameters)
      : program_(program),
        points_(*program, parameters),
        plan_(engine::StatisticsPlan::of(*program, parameters)),
        store_(*program),
        ledger_(*program, parameters, 1, false),
        judge_(std::make_shared<engine::Policy>(program, std::move(parameters), compiler::evaluate(*program))) {}

  Result<Report> run(const std::filesystem::path& file) {
    const auto read = read_rollouts(file, [&](LoggedRollout rollout) { return add(std::move(rollout)); });
    if (!read) return read.error();
    if (read->rollouts == 0) return Error{fmt::format("{} holds no rollout", file.string()), ""};
    while (!pending_.empty()) finish(pending_.begin());
    report_.costs_known = true;
    note(*read);
    return std::move(report_);
  }

 private:
  Result<void> add(LoggedRollout rollout) {
    if (closed_.contains(rollout.group)) {
      return Error{fmt::format("group {} was complete already: it has more rollouts than planned", rollout.group), ""};
    }
    auto [entry, is_new] = pending_.try_emplace(rollout.group);
    Pending& group = entry->second;
    if (is_new) {
      group.place = report_.outcomes.size();
      report_.outcomes.emplace_back().group = rollout.group;
    }
    if (rollout.planned) group.planned = rollout.planned;
    const std::int64_t sample = rollout.sample;
    const std::string name = rollout.group;
    if (!group.rollouts.emplace(sample, std::move(rollout)).second) {
      return Error{fmt::format("sample {} of group {} stands in the file twice", sample, name), ""};
    }
    if (group.planned && static_cast<std::int64_t>(group.rollouts.size()) >= *group.planned) finish(entry);
    return {};
  }

  void finish(std::map<std::string, Pending>::iterator entry) {
    const Pending& group = entry->second;
    ragged_ += group.planned && static_cast<std::int64_t>(group.rollouts.size()) < *group.planned;
    play(group, report_.outcomes[group.place]);
    closed_.insert(entry->first);
    pending_.erase(entry);
  }

  // ---- one group

  engine::RunFacts run_facts() const { return {program_.get(), &judge_.policy().parameters(), &ledger_, 0, 1, 0}; }

  LiveGroup start(const Pending& pending) const {
    LiveGroup group;
    group.log.group = 0;
    group.log.prompt = pending.rollouts.begin()->second.prompt;
    group.log.planned = static_cast<int>(pending.planned.value_or(static_cast<std::int64_t>(pending.rollouts.size())));
    group.log.cap = group.log.planned;
    group.log.rollouts.resize(pending.rollouts.size());
    for (const lang::State& state : program_->states) group.state.push_back(state.initial);
    group.kept = engine::KeptStatistics(plan_);
    for (std::size_t i = 0; i < pending.rollouts.size(); ++i) group.kept.started();
    return group;
  }

  // A rollout that a gate stopped would have gone on: it is alive at its last turn.
  static bool ends_with(const LoggedRollout& rollout, int turn) {
    return static_cast<int>(rollout.turns.size()) <= turn && rollout.status != Status::Stopped;
  }

  // By the policy: what was stopped when it was logged counts as running on.
  static bool stopped(const LiveGroup& group, std::size_t sample) {
    return group.log.rollouts[sample].status == Status::Stopped;
  }

  void take_turn(LiveGroup& group, const std::vector<const LoggedRollout*>& rollouts, int turn) const {
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
      if (static_cast<int>(rollouts[i]->turns.size()) < turn || stopped(group, i)) continue;
      const int sample = static_cast<int>(i);
      engine::Turn step = rollouts[i]->turns[static_cast<std::size_t>(turn - 1)];
      step.last = ends_with(*rollouts[i], turn);
      group.log.append(sample, step, plan_.observations);
      group.kept.took_turn(group.log, sample);
    }
  }

  // Those that were over before `turn` turns are known to have ended, with their score.
  void end(LiveGroup& group, const std::vector<const LoggedRollout*>& rollouts, int turn) {
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
      RolloutLog& log = group.log.rollouts[i];
      if (log.status != Status::Running || !ends_with(*rollouts[i], turn)) continue;
      log.status = rollouts[i]->status == Status::Running ? Status::Aborted : rollouts[i]->status;
      const int sample = static_cast<int>(i);
      log.left_out() ? group.kept.left_out(sample) : group.kept.ended(sample);
      log.reward = rollouts[i]->reward;
      log.hit = judge_.hit(group, sample, run_facts());
    }
  }

  void play(const Pending& pending, Outcome& outcome) {
    std::vector<const LoggedRollout*> rollouts;
    int most = 0;
    for (const auto& [sample, rollout] : pending.rollouts) {
      rollouts.push_back(&rollout);
      most = std::max(most, static_cast<int>(rollout.turns.size()));
    }
    LiveGroup group = start(pending);
    end(group, rollouts, 0);
    for (int turn = 1; turn <= most && !outcome.stopped; ++turn) {
      take_turn(group, rollouts, turn);
      ask_turn(group, turn, outcome);
      if (!outcome.stopped) end(group, rollouts, turn);
    }
    // `turn N` beyond the longest rollout comes late: no rollout is alive, but the gate can be asked all the same. Turns
    // that a verdict cut short say nothing of turn N.
    for (const int handler : points_.turn_handlers()) {
      if (!cut(outcome) && can_ask(handler) && points_.number(handler) > most)
        ask(handler, group, points_.number(handler), outcome);
    }
    if (!outcome.stopped) ask_finish(group, rollouts, most, outcome);
    tell(rollouts, outcome);
  }

  static bool cut(const Outcome& outcome) { return outcome.stopped || !outcome.stopped_samples.empty(); }

  bool can_ask(int handler) const {
    return handler != engine::no_handler && asks_after_turns(program_->handlers[static_cast<std::size_t>(handler)]);
  }

  void ask_turn(LiveGroup& group, int turn, Outcome& outcome) {
    const int handler = points_.find(Point::Turn, turn);
    if (!can_ask(handler)) return;
    const bool live = group.log.least_live_turns().has_value();
    if (live || (points_.numbered(handler) && !cut(outcome))) ask(handler, group, turn, outcome);
  }

  void ask(int handler, LiveGroup& group, int turn, Outcome& outcome) {
    const bool live = group.log.least_live_turns().has_value();
    const engine::Decision decision =
        judge_.ask(handler, group, turn, run_facts(), store_, live ? engine::Effects::Keep : engine::Effects::Discard);
    outcome.asked = true;
    outcome.turn = turn;
    keep(decision, outcome);
    outcome.stopped = decision.verdict.rollouts == lang::RolloutsField::Stop;
    outcome.late = outcome.stopped && !live;
    if (decision.verdict.rollouts == lang::RolloutsField::StopWhere) stop_where(decision.verdict.stopped, group, turn, outcome);
  }

  static void stop_where(const std::vector<int>& samples, LiveGroup& group, int turn, Outcome& outcome) {
    for (const int sample : samples) {
      const auto at = static_cast<std::size_t>(sample);
      if (at >= group.log.rollouts.size() || !group.log.rollouts[at].live()) continue;
      group.log.rollouts[at].status = Status::Stopped;
      group.kept.ended(sample);
      outcome.stopped_samples.emplace(sample, turn);
    }
  }

  void ask_finish(LiveGroup& group, const std::vector<const LoggedRollout*>& rollouts, int most, Outcome& outcome) {
    const int handler = points_.find(Point::Finish);
    bool over = true;
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
      over = over && (rollouts[i]->status != Status::Stopped || stopped(group, i));
    }
    if (handler == engine::no_handler || outcome.dropped || !over) return;
    end(group, rollouts, most);
    group.log.wave = 1;  // the whole group as it was logged
    keep(judge_.ask(handler, group, most, run_facts(), store_, engine::Effects::Keep), outcome);
  }

  static void keep(const engine::Decision& decision, Outcome& outcome) {
    outcome.dropped = outcome.dropped || decision.verdict.group == lang::GroupField::Drop;
    outcome.subset = decision.verdict.subset;
    outcome.reason = decision.verdict.reason;
    outcome.rule = decision.verdict.where;
    if (decision.fault && outcome.fault.empty()) outcome.fault = decision.fault->text;
  }

  // How the group really ended, and what the stop would have spared.
  void tell(const std::vector<const LoggedRollout*>& rollouts, Outcome& outcome) {
    engine::GroupLog scored;
    for (std::size_t sample = 0; sample < rollouts.size(); ++sample) {
      const LoggedRollout* const rollout = rollouts[sample];
      const auto cut = outcome.stopped_samples.find(static_cast<int>(sample));
      const int last = cut != outcome.stopped_samples.end() ? cut->second
                       : outcome.stopped                    ? outcome.turn
                                                            : std::numeric_limits<int>::max();
      scored.rollouts.emplace_back().reward = rollout->reward;
      unfinished_ += rollout->status == Status::Stopped;
      std::int64_t told = 0, saved = 0;
      for (std::size_t i = 0; i < rollout->turns.size(); ++i) {
        told += rollout->turns[i].tokens;
        const bool after = static_cast<int>(i) >= last;
        saved += after ? rollout->turns[i].tokens : 0;
        outcome.turns_saved += after;
      }
      outcome.turns += static_cast<std::int64_t>(rollout->turns.size());
      outcome.tokens += rollout->tokens.value_or(told);
      outcome.tokens_saved += saved;
    }
    if (scored.scored_rewards().size() >= 2) outcome.flat = scored.flat(program_->flat_within);
  }

  void note(const ReadReport& read) {
    std::vector<std::string>& notes = report_.notes;
    for (const std::string& handler : handlers_not_asked(*program_, {Point::Finish})) {
      notes.push_back(
          fmt::format("`{}` is not asked: a log tells what was rolled out, not what else could have been", handler));
    }
    const bool remembers = std::any_of(program_->states.begin(), program_->states.end(),
                                       [](const lang::State& state) { return state.scope != lang::StateScope::Group; });
    if (remembers) notes.push_back("state per prompt and per run stays at its initial value");
    const auto counted = [&](std::int64_t count, std::string_view what) {
      if (count > 0) notes.push_back(fmt::format("{} {}", count, what));
    };
    counted(unfinished_, "rollouts were stopped when they were logged: what they would have become is not known");
    counted(ragged_, "groups have fewer rollouts than planned");
    counted(read.without_turns, "rollouts have no turns: no gate can see them");
    counted(read.turns_without_action, "turns have no `action`: they count as invalid");
    counted(read.turns_without_tokens, "turns have no `n_gen_tokens`: they count as 0 tokens");
    counted(read.numbers_as_texts, "numbers stand in the log as texts");
    counted(read.cut_lines, "line was cut short at the end of the file and is left out");
  }

  std::shared_ptr<const lang::Program> program_;
  engine::Points points_;
  engine::StatisticsPlan plan_;
  engine::StateStore store_;
  engine::Ledger ledger_;
  engine::Judge judge_;
  std::map<std::string, Pending> pending_;
  std::set<std::string> closed_;
  Report report_;
  int ragged_ = 0;
  int unfinished_ = 0;
};

}  // namespace

Result<Report> replay_rollouts(std::shared_ptr<const lang::Program> program, const std::vector<lang::Cell>& parameters,
                               const std::filesystem::path& file) {
  // What is past needs no host: handlers that would need one are not asked.
  const engine::Abilities all{.defers = true, .shapes = true, .replays = true, .branches = true, .scores = true};
  if (auto served = engine::check_points(*program, parameters, 1 << 20, all); !served) return served.error();
  return Replay(std::move(program), parameters).run(file);
}

}  // namespace allot::replay
