#include "lang/facts.h"

#include <array>

namespace allot::lang {
namespace {

constexpr Type plain(Base base) {
  Type type;
  type.base = base;
  return type;
}
constexpr Type count(BaseUnit unit) {
  Type type = plain(Base::Int);
  type.unit.exponents[static_cast<std::size_t>(unit)] = 1;
  return type;
}
constexpr Type optional(Type type) {
  type.optional = true;
  return type;
}
constexpr Type over_rollouts(Type type) {
  type.scope = Scope::Rollouts;
  return type;
}
constexpr Type prob() {
  Type type = plain(Base::Real);
  type.prob = true;
  return type;
}

constexpr Type integer = plain(Base::Int);
constexpr Type real = plain(Base::Real);
constexpr Type boolean = plain(Base::Bool);
constexpr Type rollouts = count(BaseUnit::Rollouts);
constexpr Type turns = count(BaseUnit::Turns);
constexpr Type tokens = count(BaseUnit::Tokens);
constexpr Type calls = count(BaseUnit::Calls);
constexpr Type groups = count(BaseUnit::Groups);
constexpr Type iterations = count(BaseUnit::Iterations);
constexpr Type epochs = count(BaseUnit::Epochs);

// {fact, subject, name, type, known only with rewards, measured, doc}
constexpr std::array table{
    // ---- a group
    FactRow{Fact::Turn, Subject::Group, "turn", turns, false, false,
            "Turns executed by every live rollout, 0 or more; at `turn N` it is N."},
    FactRow{Fact::Started, Subject::Group, "started", rollouts, false, false, "Rollouts started so far, 0 or more."},
    FactRow{Fact::Planned, Subject::Group, "planned", rollouts, false, false,
            "Rollouts the group may reach: `up to` of `start`, else its size; 1 or more."},
    FactRow{Fact::Alive, Subject::Group, "alive", rollouts, false, false, "Rollouts running now, 0 or more."},
    FactRow{Fact::Ended, Subject::Group, "ended", rollouts, false, false,
            "Rollouts that ended, however they did, 0 or more."},
    FactRow{Fact::Errors, Subject::Group, "errors", rollouts, false, false,
            "Rollouts that ended in an error or by a timeout, 0 or more."},
    FactRow{Fact::Scored, Subject::Group, "scored", rollouts, true, false, "Rollouts with a finite reward, 0 or more."},
    FactRow{Fact::Nonfinite, Subject::Group, "nonfinite", rollouts, true, false,
            "Rollouts whose reward was NaN or infinite and which count as unscored, 0 or more."},
    FactRow{Fact::Hits, Subject::Group, "hits", rollouts, true, false,
            "Scored rollouts that met the `hit` condition, 0 or more."},
    FactRow{Fact::Misses, Subject::Group, "misses", rollouts, true, false,
            "Scored rollouts that did not meet the `hit` condition, 0 or more."},
    FactRow{Fact::HitRate, Subject::Group, "hit_rate", optional(prob()), true, false,
            "Hits over scored rollouts, 0..1; undefined while no rollout is scored."},
    FactRow{Fact::Rewards, Subject::Group, "rewards", over_rollouts(optional(real)), true, false,
            "The reward of each rollout, by sample; undefined for an unscored one."},
    FactRow{Fact::RawRewards, Subject::Group, "raw_rewards", over_rollouts(optional(real)), true, false,
            "What the environment gave each rollout, by sample; undefined for an unscored one."},
    FactRow{Fact::RewardMean, Subject::Group, "reward_mean", optional(real), true, false,
            "Mean reward of the scored rollouts; undefined while no rollout is scored."},
    FactRow{Fact::RewardMin, Subject::Group, "reward_min", optional(real), true, false,
            "Least reward of the scored rollouts; undefined while no rollout is scored."},
    FactRow{Fact::RewardMax, Subject::Group, "reward_max", optional(real), true, false,
            "Greatest reward of the scored rollouts; undefined while no rollout is scored."},
    FactRow{Fact::RewardSum, Subject::Group, "reward_sum", optional(real), true, false,
            "Sum of the rewards of the scored rollouts; undefined while no rollout is scored."},
    FactRow{Fact::RewardVariance, Subject::Group, "reward_variance", optional(real), true, false,
            "Variance of the scored rewards with divisor n, 0 or more; undefined while no rollout is scored."},
    FactRow{
        Fact::RewardStd, Subject::Group, "reward_std", optional(real), true, false,
        "Standard deviation of the scored rewards with divisor n, 0 or more; undefined while no rollout is scored."},
    FactRow{Fact::Flat, Subject::Group, "flat", boolean, true, false,
            "At least two scored rewards and max - min <= the `flat within` tolerance; false below two."},
    FactRow{Fact::Tokens, Subject::Group, "tokens", tokens, false, false, "Tokens written by the group, 0 or more."},
    FactRow{Fact::Calls, Subject::Group, "calls", calls, false, false, "Tool calls made by the group, 0 or more."},
    FactRow{Fact::Wave, Subject::Group, "wave", integer, false, false, "Waves that ended; 1 at the first `wave`."},
    FactRow{Fact::Round, Subject::Group, "round", integer, false, false,
            "The fill of the batch in which the group was opened, from 1."},
    FactRow{Fact::Slot, Subject::Group, "slot", integer, false, false, "The group's place in the batch, from 0."},
    FactRow{Fact::Age, Subject::Group, "age", iterations, false, false,
            "Iterations since the group was opened, 0 or more."},
    FactRow{Fact::PromptKey, Subject::Group, "prompt", plain(Base::Prompt), false, false,
            "The prompt of the group: the key of state per prompt."},
    // ---- a rollout
    FactRow{Fact::Sample, Subject::Rollout, "sample", integer, false, false, "Index within the group, from 0."},
    FactRow{Fact::RolloutAlive, Subject::Rollout, "alive", boolean, false, false, "It is running."},
    FactRow{Fact::RolloutEnded, Subject::Rollout, "ended", boolean, false, false,
            "It ended by itself: neither stopped nor in error."},
    FactRow{Fact::RolloutStopped, Subject::Rollout, "stopped", boolean, false, false, "A verdict ended it."},
    FactRow{Fact::RolloutErrored, Subject::Rollout, "errored", boolean, false, false,
            "It ended in an error or by a timeout."},
    FactRow{Fact::RolloutScored, Subject::Rollout, "scored", boolean, true, false, "It has a finite reward."},
    FactRow{Fact::Reward, Subject::Rollout, "reward", optional(real), true, false,
            "What is trained on; undefined while unscored."},
    FactRow{Fact::RawReward, Subject::Rollout, "raw_reward", optional(real), true, false,
            "What the environment gave, before shaping; undefined while unscored."},
    FactRow{Fact::RolloutHit, Subject::Rollout, "hit", optional(boolean), true, false,
            "It met the `hit` condition; undefined while unscored."},
    FactRow{Fact::RolloutTokens, Subject::Rollout, "tokens", tokens, false, false, "Tokens it wrote, 0 or more."},
    FactRow{Fact::RolloutTurns, Subject::Rollout, "turns", turns, false, false, "Turns it executed, 0 or more."},
    FactRow{Fact::RolloutCalls, Subject::Rollout, "calls", calls, false, false, "Tool calls it made, 0 or more."},
    FactRow{Fact::Invalid, Subject::Rollout, "invalid", turns, false, false,
            "Turns whose action could not be parsed, 0 or more."},
    FactRow{Fact::LogProb, Subject::Rollout, "logprob", optional(real), false, false,
            "Mean log-probability of the tokens it wrote, nats, 0 or less; undefined before the first."},
    FactRow{Fact::Entropy, Subject::Rollout, "entropy", optional(real), false, false,
            "Mean entropy of the tokens it wrote, nats, 0 or more; undefined before the first."},
    // ---- statistics of actions, written as calls
    FactRow{Fact::PairwiseMean, Subject::Group, "", optional(real), false, false,
            "Mean distance over all pairs of action prefixes, 0 or more (0..1 where normalised); undefined without a "
            "pair."},
    FactRow{Fact::PairwiseMin, Subject::Group, "", optional(real), false, false,
            "Least distance over all pairs of action prefixes, 0 or more; undefined without a pair."},
    FactRow{Fact::PairwiseMax, Subject::Group, "", optional(real), false, false,
            "Greatest distance over all pairs of action prefixes, 0 or more; undefined without a pair."},
    FactRow{Fact::UniquePrefixRatio, Subject::Group, "", optional(prob()), false, false,
            "Distinct action prefixes over rollouts, in (0, 1]; undefined without a rollout."},
    FactRow{Fact::UniqueActionRatio, Subject::Group, "", optional(prob()), false, false,
            "Distinct actions at one turn over rollouts, in (0, 1]; undefined without a rollout."},
    FactRow{Fact::Agreement, Subject::Group, "", optional(prob()), false, false,
            "The largest share of one action at one turn, in (0, 1]; undefined without a rollout."},
    FactRow{
        Fact::ActionEntropy, Subject::Group, "", optional(real), false, false,
        "Shannon entropy of the actions at one turn in bits, nats, or 0..1 where normalised by log of the rollouts; "
        "undefined without a rollout."},
    FactRow{Fact::FinishedFraction, Subject::Group, "", optional(prob()), false, false,
            "Share of rollouts with fewer actions than that turn, 0..1; undefined without a rollout."},
    FactRow{Fact::Repetition, Subject::Rollout, "", prob(), false, false,
            "1 - distinct n-grams over n-grams of its actions, in [0, 1); 0 with fewer than n actions."},
    FactRow{Fact::Loop, Subject::Rollout, "", boolean, false, false,
            "Its last k pairs of action and observation were seen before in the same rollout."},
    // ---- a batch
    FactRow{Fact::Slots, Subject::Batch, "slots", groups, false, false, "The host's batch size, 1 or more."},
    FactRow{Fact::BatchSize, Subject::Batch, "size", groups, false, false, "Groups in the batch, 0 or more."},
    FactRow{Fact::BudgetTotal, Subject::Batch, "", integer, false, false,
            "The declared budget, in the unit of the argument."},
    FactRow{Fact::BudgetSpent, Subject::Batch, "", integer, false, true,
            "What is spent of the budget, in the unit of the argument, 0 or more."},
    FactRow{Fact::BudgetLeft, Subject::Batch, "", integer, false, true,
            "What is neither spent nor reserved of the budget, in the unit of the argument, 0 or more."},
    // ---- the run
    FactRow{Fact::Iteration, Subject::Run, "iteration", iterations, false, false, "The current iteration, from 0."},
    FactRow{Fact::Epoch, Subject::Run, "epoch", epochs, false, false,
            "Passes over the pool that are complete, from 0."},
    FactRow{Fact::Draw, Subject::Run, "", real, false, false,
            "A number in [0, 1) from seed, policy, name, prompt, sample, iteration, wave and round: equal when asked "
            "again."},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].fact != static_cast<Fact>(i)) return false;
  }
  return table.size() == static_cast<std::size_t>(Fact::Draw) + 1;
}
static_assert(in_order(), "one row per fact, in the order of the enumeration");

constexpr std::array<std::string_view, 15> point_names{"select", "size",   "turn",   "result", "wave",
                                                       "finish", "resume", "expand", "score",  "shape",
                                                       "replay", "loss",   "update", "epoch",  "eval"};

}  // namespace

std::string_view name(Point point) {
  return point_names[static_cast<std::size_t>(point)];
}

std::span<const FactRow> fact_rows() {
  return table;
}

const FactRow& row(Fact fact) {
  return table[static_cast<std::size_t>(fact)];
}

const FactRow* find_fact(Subject subject, std::string_view name) {
  if (name.empty()) return nullptr;
  for (const FactRow& row : table) {
    if (row.subject == subject && row.name == name) return &row;
  }
  return nullptr;
}

bool known_at(const FactRow& row, Point point) {
  return !row.reward || (point != Point::Select && point != Point::Size && point != Point::Turn);
}

}  // namespace allot::lang
