#include "runtime/engine/facts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/math/random.h"
#include "runtime/statistics/rewards.h"

namespace allot::engine {
namespace {

using lang::Cell;
using lang::Fact;
using lang::ReadKey;

Cell count(std::int64_t value, const ReadKey& key) {
  return key.type.base == lang::Base::Real ? Cell::of(static_cast<double>(value)) : Cell::of(value);
}

// Nothing that is not finite may reach a policy.
Cell real(std::optional<double> value) {
  return value && std::isfinite(*value) ? Cell::of(*value) : Cell::undefined();
}

// Mean over the tokens of a rollout; undefined before the first.
Cell per_token(double total, std::int64_t tokens) {
  return tokens > 0 ? real(total / static_cast<double>(tokens)) : Cell::undefined();
}

Cell of_turn(double total, const TurnNumbers& turn) { return per_token(total, turn.tokens); }

Cell share(std::int64_t part, std::int64_t of) {
  return of > 0 ? real(static_cast<double>(part) / static_cast<double>(of)) : Cell::undefined();
}

statistics::RewardSummary reward_summary(const GroupLog& log) {
  std::vector<std::optional<double>> rewards;
  rewards.reserve(log.rollouts.size());
  for (const RolloutLog& rollout : log.rollouts) rewards.push_back(rollout.reward);
  return statistics::RewardSummary(rewards);
}

std::optional<double> hit_rate(const GroupCounts& counts) {
  if (counts.scored == 0) return std::nullopt;
  return static_cast<double>(counts.hits) / counts.scored;
}

// A draw is a function of what it is for, never of what was drawn before it: run seed, policy, name, prompt, sample,
// iteration, wave and round.
struct DrawFor {
  const std::string* prompt = nullptr;
  int sample = -1;
  int wave = 0;
  int round = 0;
};
Cell draw(const ReadKey& key, const DrawFor& what, const RunFacts& run) {
  const std::string& word = key.arguments.empty() ? std::string() : key.arguments.front().word;
  std::uint64_t seed = math::combine(run.seed, math::hash_text(run.program->name));
  seed = math::combine(seed, math::hash_text(word));
  if (what.prompt != nullptr) seed = math::combine(seed, math::hash_text(*what.prompt));
  const auto part = [](int value) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)); };
  const std::uint64_t high = part(run.iteration) << 32 | part(what.round);
  const std::uint64_t low = part(what.sample) << 32 | part(what.wave);
  return Cell::of(math::uniform(seed, high, low));
}

DrawFor draw_for(const GroupLog& log, int sample = -1) { return {&log.prompt, sample, log.wave, log.round}; }

Cell run_fact(const ReadKey& key, const RunFacts& run) {
  switch (key.fact) {
    case Fact::Iteration: return count(run.iteration, key);
    case Fact::Epoch: return count(run.epoch, key);
    case Fact::PoolSlots:
    case Fact::Slots: return count(run.slots, key);
    case Fact::EmptySlots: return count(run.empty_slots, key);
    case Fact::PoolSize: return count(run.pool_size, key);
    case Fact::PoolKnown: return count(run.pool_known, key);
    case Fact::PoolEvicted: return count(run.pool_evicted, key);
    case Fact::PoolDue: return count(run.pool_due, key);
    case Fact::Draw: return draw(key, {}, run);
    default: return Cell::undefined();
  }
}

Cell reward_fact(const ReadKey& key, const GroupFacts& group, const RunFacts& run) {
  const statistics::RewardSummary rewards = reward_summary(*group.log);
  switch (key.fact) {
    case Fact::RewardMean: return real(rewards.mean());
    case Fact::RewardMin: return real(rewards.min());
    case Fact::RewardMax: return real(rewards.max());
    case Fact::RewardSum: return real(rewards.sum());
    case Fact::RewardVariance: return real(rewards.variance(0));
    case Fact::RewardStd: return real(rewards.deviation(0));
    default: return Cell::of(rewards.flat(run.program->flat_within));
  }
}

// `b.budget.left`, in the unit of the argument; where a unit is declared per run and per iteration, the tighter one.
Cell budget_fact(const ReadKey& key, const RunFacts& run) {
  const Account* tightest = nullptr;
  if (run.ledger == nullptr) return Cell::undefined();
  for (const Account& account : run.ledger->accounts()) {
    const bool named = key.arguments.empty() || key.arguments.front().word == lang::name(account.unit);
    if (named && (tightest == nullptr || account.left() < tightest->left())) tightest = &account;
  }
  if (tightest == nullptr) return Cell::undefined();
  double amount = std::max(0.0, tightest->left());
  if (key.fact == Fact::BudgetTotal) amount = tightest->total;
  if (key.fact == Fact::BudgetSpent) amount = tightest->spent;
  return key.type.base == lang::Base::Real ? Cell::of(amount) : Cell::of(static_cast<std::int64_t>(amount));
}

}  // namespace

int current_turn(const GroupLog& log) {
  if (const std::optional<int> least = log.least_live_turns()) return *least;
  int most = 0;
  for (const RolloutLog& rollout : log.rollouts) most = std::max(most, rollout.turns());
  return most;
}

Cell group_fact(const ReadKey& key, const GroupFacts& group, const RunFacts& run) {
  const GroupLog& log = *group.log;
  const auto counts = [&] { return log.counts(); };
  switch (key.fact) {
    case Fact::Turn: return count(group.turn, key);
    case Fact::Started: return count(counts().started, key);
    case Fact::Planned: return count(log.planned, key);
    case Fact::Alive: return count(counts().live, key);
    case Fact::Ended: return count(counts().started - counts().live, key);
    case Fact::Errors: return count(counts().errors, key);
    case Fact::Scored: return count(counts().scored, key);
    case Fact::Nonfinite: return count(counts().nonfinite, key);
    case Fact::Hits: return count(counts().hits, key);
    case Fact::Misses: return count(counts().misses, key);
    case Fact::HitRate: return real(hit_rate(counts()));
    case Fact::RewardMean:
    case Fact::RewardMin:
    case Fact::RewardMax:
    case Fact::RewardSum:
    case Fact::RewardVariance:
    case Fact::RewardStd:
    case Fact::Flat: return reward_fact(key, group, run);
    case Fact::Tokens: return count(counts().tokens, key);
    case Fact::Calls: return count(counts().calls, key);
    case Fact::Wave: return count(log.wave, key);
    case Fact::Round: return count(log.round, key);
    case Fact::Slot: return count(log.slot, key);
    case Fact::Age: return count(run.iteration - log.iteration, key);
    case Fact::PromptKey: return Cell::of(group.prompt);
    case Fact::GroupCategory: return Cell::of(group.category);
    case Fact::Draw: return draw(key, draw_for(log), run);
    case Fact::Iteration:
    case Fact::Epoch: return run_fact(key, run);
    case Fact::BudgetTotal:
    case Fact::BudgetSpent:
    case Fact::BudgetLeft: return budget_fact(key, run);
    case Fact::Slots:
    case Fact::EmptySlots: return run_fact(key, run);
    default: return real(group.kept->group_fact(key, *run.parameters, log, group.turn));
  }
}

Cell rollout_fact(const ReadKey& key, const GroupFacts& group, int sample, const RunFacts& run) {
  const RolloutLog& rollout = group.log->rollouts[static_cast<std::size_t>(sample)];
  const auto argument = [&] {
    const lang::ReadArgument& first = key.arguments.at(0);
    const bool turn = first.kind == lang::ReadArgument::Kind::CurrentTurn;
    const std::int64_t value = turn ? group.turn : lang::value(first, *run.parameters);
    return static_cast<int>(std::clamp<std::int64_t>(value, 1, 1 << 20));
  };
  switch (key.fact) {
    case Fact::Sample: return count(sample, key);
    case Fact::RolloutAlive: return Cell::of(rollout.live());
    case Fact::RolloutEnded:
      return Cell::of(rollout.last_turn || rollout.status == Status::Completed || rollout.status == Status::Truncated);
    case Fact::RolloutStopped: return Cell::of(rollout.status == Status::Stopped);
    case Fact::RolloutErrored: return Cell::of(rollout.errored());
    case Fact::RolloutScored: return Cell::of(rollout.scored());
    case Fact::Reward:
    case Fact::Rewards: return real(rollout.reward);
    case Fact::RawReward:
    case Fact::RawRewards: return real(rollout.raw_reward ? rollout.raw_reward : rollout.reward);
    case Fact::RolloutHit: return rollout.hit ? Cell::of(*rollout.hit) : Cell::undefined();
    case Fact::RolloutTokens: return count(rollout.tokens, key);
    case Fact::RolloutTurns: return count(rollout.turns(), key);
    case Fact::RolloutCalls: return count(rollout.calls, key);
    case Fact::Invalid: return count(rollout.invalid, key);
    case Fact::LogProb: return per_token(rollout.logprob, rollout.tokens);
    case Fact::Entropy: return per_token(rollout.entropy, rollout.tokens);
    case Fact::Repetition: return Cell::of(rollout_repetition(rollout, argument()));
    case Fact::Loop: return Cell::of(rollout_loops(rollout, argument()));
    case Fact::Draw: return draw(key, draw_for(*group.log, sample), run);
    case Fact::RolloutTruncated: return Cell::of(rollout.status == Status::Truncated);
    case Fact::FirstEntropy:
      return rollout.each_turn.empty() ? Cell::undefined() : of_turn(rollout.each_turn.front().entropy, rollout.each_turn.front());
    case Fact::LastEntropy:
      return rollout.each_turn.empty() ? Cell::undefined() : of_turn(rollout.each_turn.back().entropy, rollout.each_turn.back());
    case Fact::Advantage:
    case Fact::Advantages:
      return group.advantages == nullptr ? Cell::undefined()
                                         : real((*group.advantages)[static_cast<std::size_t>(sample)]);
    case Fact::Class:
    case Fact::Classes: {
      const std::optional<int> found = group.log->answer_class(sample);
      return found ? Cell::of(static_cast<std::int64_t>(*found)) : Cell::undefined();
    }
    case Fact::RolloutGroup: return Cell::of(std::int64_t{0});
    case Fact::RolloutPrompt: return Cell::of(group.prompt);
    case Fact::RolloutCategory: return Cell::of(group.category);
    default: return group_fact(key, group, run);
  }
}

namespace {

// Classes of what was seen before each turn, by first appearance. All rollouts of a group begin with one observation.
class StateClasses {
 public:
  Cell before(const RolloutLog& rollout, std::size_t turn) {
    if (turn == 0) return number(std::nullopt);
    return turn <= rollout.observations.size() ? number(rollout.observations[turn - 1]) : Cell::undefined();
  }

 private:
  Cell number(std::optional<Symbol> observation) {
    const auto place = std::find(known_.begin(), known_.end(), observation) - known_.begin();
    if (place == static_cast<std::ptrdiff_t>(known_.size())) known_.push_back(observation);
    return Cell::of(static_cast<std::int64_t>(place));
  }

  std::vector<std::optional<Symbol>> known_;
};

}  // namespace

std::vector<Cell> turns_column(const ReadKey& key, const GroupLog& log) {
  std::vector<Cell> column;
  StateClasses classes;
  for (std::size_t sample = 0; sample < log.rollouts.size(); ++sample) {
    const RolloutLog& rollout = log.rollouts[sample];
    for (std::size_t turn = 0; turn < rollout.actions.size(); ++turn) {
      const bool last = turn + 1 == rollout.actions.size();
      switch (key.fact) {
        case Fact::TurnSamples: column.push_back(Cell::of(static_cast<std::int64_t>(sample))); break;
        case Fact::TurnRewards: column.push_back(rollout.scored() && !last ? Cell::of(0.0) : real(rollout.reward)); break;
        case Fact::TurnStates: column.push_back(classes.before(rollout, turn)); break;
        default: column.push_back(Cell::undefined());
      }
    }
  }
  return column;
}

Cell turn_fact(const ReadKey& key, const RolloutLog& rollout, std::size_t turn) {
  if (turn >= rollout.each_turn.size()) return Cell::undefined();
  const TurnNumbers& numbers = rollout.each_turn[turn];
  switch (key.fact) {
    case Fact::TurnTokens: return count(numbers.tokens, key);
    case Fact::TurnLogProbs: return of_turn(numbers.logprob, numbers);
    case Fact::TurnEntropies: return of_turn(numbers.entropy, numbers);
    default: return Cell::undefined();
  }
}

Cell member_fact(const ReadKey& key, const MicroFacts::Member& member, const RunFacts& run) {
  switch (key.fact) {
    case Fact::Advantage:
    case Fact::Advantages:
    case Fact::MicroAdvantages: return real(member.advantage);
    case Fact::RolloutGroup:
    case Fact::MicroGroups: return Cell::of(member.index);
    default: break;
  }
  ReadKey own = key;
  switch (key.fact) {
    case Fact::MicroRewards: own.fact = Fact::Reward; break;
    case Fact::MicroClasses: own.fact = Fact::Class; break;
    case Fact::MicroTokens: own.fact = Fact::RolloutTokens; break;
    case Fact::MicroTurns: own.fact = Fact::RolloutTurns; break;
    default: break;
  }
  return rollout_fact(own, member.group, member.sample, run);
}

Cell prompt_fact(const ReadKey& key, const PromptFacts& prompt, const RunFacts& run) {
  const PromptHistory& history = *prompt.history;
  switch (key.fact) {
    case Fact::PromptKey: return Cell::of(prompt.position);
    case Fact::GroupCategory:
    case Fact::RolloutCategory:
    case Fact::PromptCategory: return Cell::of(prompt.category);
    case Fact::Seen: return Cell::of(history.groups > 0);
    case Fact::LastIteration:
      return history.last_iteration < 0 ? Cell::undefined() : count(history.last_iteration, key);
    case Fact::HistoryGroups: return count(history.groups, key);
    case Fact::HistoryFlat: return count(history.flat, key);
    case Fact::HistoryStarted: return count(history.started, key);
    case Fact::HistoryScored: return count(history.scored, key);
    case Fact::HistoryHits: return count(history.hits, key);
    case Fact::HistoryMisses: return count(history.misses, key);
    case Fact::HistoryHitRate: return share(history.hits, history.scored);
    case Fact::LastHitRate: return share(history.last_hits, history.last_scored);
    case Fact::HistoryMean: return real(history.mean());
    case Fact::HistoryStd: return real(history.deviation());
    case Fact::Evicted: return Cell::of(prompt.evicted);
    case Fact::EvictedUntil:
      return prompt.evicted && history.away_until != PromptHistory::for_good ? count(history.away_until, key)
                                                                             : Cell::undefined();
    case Fact::Deferred: return Cell::of(prompt.deferred);
    case Fact::Draw: return draw(key, {prompt.key, -1, 0, 0}, run);
    default: return run_fact(key, run);
  }
}

Cell batch_fact(const ReadKey& key, int size, const RunFacts& run) {
  switch (key.fact) {
    case Fact::MicroSize:
    case Fact::BatchSize: return count(size, key);
    case Fact::BudgetTotal:
    case Fact::BudgetSpent:
    case Fact::BudgetLeft: return budget_fact(key, run);
    default: return run_fact(key, run);
  }
}

}  // namespace allot::engine
