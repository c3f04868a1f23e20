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
constexpr Type over(Scope scope, Type type) {
  type.scope = scope;
  return type;
}
constexpr Type over_rollouts(Type type) {
  return over(Scope::Rollouts, type);
}
constexpr Type square_over(Scope scope) {
  Type type = plain(Base::Real);
  type.scope = type.across = scope;
  return type;
}
// A matrix with a row for each, as wide as the host makes it.
constexpr Type rows_over(Scope scope) {
  Type type = plain(Base::Real);
  type.scope = scope;
  type.across = Scope::List;
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
constexpr Type prompts = count(BaseUnit::Prompts);
constexpr Type category = plain(Base::Category);

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
    FactRow{Fact::GroupCategory, Subject::Group, "category", category, false, false,
            "The category of the group's prompt: the key of state per category."},
    FactRow{Fact::FirstRollout, Subject::Group, "", integer, false, false,
            "Of a group among others: the place of its first rollout among those of all of them, from 0."},
    FactRow{Fact::Advantages, Subject::Group, "advantages", over_rollouts(optional(real)), true, false,
            "The advantage of each rollout, by sample, at `shape` only; undefined where it is not trained on."},
    FactRow{Fact::Classes, Subject::Group, "classes", over_rollouts(optional(integer)), true, false,
            "The class of each rollout's answer, by sample: equal answers of a group share a number, from 0 by first "
            "appearance; undefined without an answer."},
    FactRow{Fact::Embeddings, Subject::Group, "embeddings", rows_over(Scope::Rollouts), true, false,
            "The embedding of each rollout, a row each, at `shape` only, as far as the host gives them; zeros where it is not "
            "trained on."},
    FactRow{Fact::TurnSamples, Subject::Group, "turn_samples", over(Scope::AllTurns, integer), false, false,
            "Of every turn of the group, by sample and then in order: the sample of its rollout."},
    FactRow{Fact::TurnRewards, Subject::Group, "turn_rewards", over(Scope::AllTurns, optional(real)), true, false,
            "What every turn of the group was rewarded with: the reward of its rollout in the last turn, 0 before it; "
            "undefined where the rollout is unscored."},
    FactRow{Fact::TurnStates, Subject::Group, "turn_states", over(Scope::AllTurns, optional(integer)), true, false,
            "The class of what was seen before every turn of the group: equal observations share a number, from 0 by first "
            "appearance; undefined where the host told none. What is seen before the first turn counts as one observation, equal "
            "to itself alone."},
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
    FactRow{Fact::RolloutTruncated, Subject::Rollout, "truncated", boolean, false, false,
            "It was ended by the limit on turns or tokens."},
    FactRow{Fact::FirstEntropy, Subject::Rollout, "first_entropy", optional(real), false, false,
            "Mean entropy of the tokens of its first turn, nats, 0 or more; undefined before the end of that turn."},
    FactRow{Fact::LastEntropy, Subject::Rollout, "last_entropy", optional(real), false, false,
            "Mean entropy of the tokens of its latest turn, nats, 0 or more; undefined before the first."},
    FactRow{Fact::Advantage, Subject::Rollout, "advantage", optional(real), true, false,
            "Its advantage, at `shape` only; undefined where it is not trained on."},
    FactRow{Fact::Class, Subject::Rollout, "class", optional(integer), true, false,
            "The class of its answer: equal answers of a group share a number, from 0 by first appearance; undefined "
            "without an answer."},
    FactRow{Fact::RolloutGroup, Subject::Rollout, "group", integer, false, false,
            "Which group of the batch it belongs to, from 0."},
    FactRow{Fact::RolloutPrompt, Subject::Rollout, "prompt", plain(Base::Prompt), false, false,
            "Its prompt: the key of state per prompt."},
    FactRow{Fact::RolloutCategory, Subject::Rollout, "category", category, false, false,
            "The category of its prompt: the key of state per category."},
    FactRow{Fact::TurnTokens, Subject::Rollout, "turn_tokens", over(Scope::Turns, tokens), false, false,
            "Tokens it wrote in each of its turns, 0 or more; in a handler of a rollout only."},
    FactRow{Fact::TurnLogProbs, Subject::Rollout, "turn_logprobs", over(Scope::Turns, optional(real)), false, false,
            "Mean log-probability of the tokens of each turn, nats, 0 or less; undefined for a turn without tokens; in "
            "a handler of a rollout only."},
    FactRow{Fact::TurnEntropies, Subject::Rollout, "turn_entropies", over(Scope::Turns, optional(real)), false, false,
            "Mean entropy of the tokens of each turn, nats, 0 or more; undefined for a turn without tokens; in a "
            "handler of a rollout only."},
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
    FactRow{Fact::EmptySlots, Subject::Batch, "empty", groups, false, false,
            "Slots that no group has taken, 0 or more."},
    FactRow{Fact::BudgetTotal, Subject::Batch, "", integer, false, false,
            "The declared budget, in the unit of the argument."},
    FactRow{Fact::BudgetSpent, Subject::Batch, "", integer, false, true,
            "What is spent of the budget, in the unit of the argument, 0 or more."},
    FactRow{Fact::BudgetLeft, Subject::Batch, "", integer, false, true,
            "What is neither spent nor reserved of the budget, in the unit of the argument, 0 or more."},
    // ---- the pool
    FactRow{Fact::PoolSlots, Subject::Pool, "slots", groups, false, false, "The host's batch size, 1 or more."},
    FactRow{Fact::PoolSize, Subject::Pool, "size", prompts, false, false,
            "Prompts that may be drawn now: neither evicted nor with a deferred group; 0 or more."},
    FactRow{Fact::PoolKnown, Subject::Pool, "total", prompts, false, false,
            "Prompts of the pool, evicted and deferred ones too, 1 or more."},
    FactRow{Fact::PoolEvicted, Subject::Pool, "evicted", prompts, false, false,
            "Prompts that are evicted now, 0 or more."},
    FactRow{Fact::PoolDue, Subject::Pool, "due", groups, false, false,
            "Groups that are deferred and wait to be resumed, 0 or more."},
    // ---- a prompt and its history
    FactRow{Fact::Seen, Subject::Prompt, "seen", boolean, false, false, "A group of it was opened before."},
    FactRow{Fact::LastIteration, Subject::Prompt, "last_iteration", optional(iterations), false, false,
            "The iteration in which its latest group was opened, from 0; undefined while it is unseen."},
    FactRow{Fact::HistoryGroups, Subject::Prompt, "groups", groups, false, false,
            "Groups of it that were opened, 0 or more."},
    FactRow{Fact::HistoryFlat, Subject::Prompt, "flat_groups", groups, false, false,
            "Groups of it that were flat at their end, 0 or more."},
    FactRow{Fact::HistoryStarted, Subject::Prompt, "started", rollouts, false, false,
            "Rollouts of it that were started, 0 or more."},
    FactRow{Fact::HistoryScored, Subject::Prompt, "scored", rollouts, false, false,
            "Rollouts of it that were scored, 0 or more."},
    FactRow{Fact::HistoryHits, Subject::Prompt, "hits", rollouts, false, false,
            "Rollouts of it that met the `hit` condition, 0 or more."},
    FactRow{Fact::HistoryMisses, Subject::Prompt, "misses", rollouts, false, false,
            "Scored rollouts of it that did not meet the `hit` condition, 0 or more."},
    FactRow{Fact::HistoryHitRate, Subject::Prompt, "hit_rate", optional(prob()), false, false,
            "Hits over scored rollouts of its whole history, 0..1; undefined while none is scored."},
    FactRow{Fact::LastHitRate, Subject::Prompt, "last_hit_rate", optional(prob()), false, false,
            "Hits over scored rollouts of its latest group that ended, 0..1; undefined while none is scored."},
    FactRow{Fact::HistoryMean, Subject::Prompt, "reward_mean", optional(real), false, false,
            "Mean reward of its whole history; undefined while none is scored."},
    FactRow{Fact::HistoryStd, Subject::Prompt, "reward_std", optional(real), false, false,
            "Standard deviation of the rewards of its whole history with divisor n, 0 or more; undefined while none is "
            "scored."},
    FactRow{Fact::Evicted, Subject::Prompt, "evicted", boolean, false, false, "It cannot be drawn now: it was evicted."},
    FactRow{Fact::EvictedUntil, Subject::Prompt, "evicted_until", optional(epochs), false, false,
            "The epoch in which it comes back; undefined where it is not evicted, or for good."},
    FactRow{Fact::Deferred, Subject::Prompt, "deferred", boolean, false, false, "It has a deferred group."},
    FactRow{Fact::PromptCategory, Subject::Prompt, "category", category, false, false,
            "Its category: the key of state per category."},
    // ---- a micro-batch
    FactRow{Fact::MicroSize, Subject::MicroBatch, "size", integer, false, false,
            "Rollouts in the micro-batch, 1 or more."},
    FactRow{Fact::MicroAdvantages, Subject::MicroBatch, "advantages", over(Scope::Trained, real), true, false,
            "The advantage of each rollout of the micro-batch."},
    FactRow{Fact::MicroRewards, Subject::MicroBatch, "rewards", over(Scope::Trained, optional(real)), true, false,
            "The reward of each rollout of the micro-batch; undefined for an unscored one."},
    FactRow{Fact::MicroClasses, Subject::MicroBatch, "classes", over(Scope::Trained, optional(integer)), true, false,
            "The class of each rollout's answer within its group; undefined without an answer."},
    FactRow{Fact::MicroGroups, Subject::MicroBatch, "groups", over(Scope::Trained, integer), false, false,
            "Which group of the batch each rollout belongs to, from 0."},
    FactRow{Fact::MicroTokens, Subject::MicroBatch, "tokens", over(Scope::Trained, tokens), false, false,
            "Tokens that each rollout wrote, 0 or more."},
    FactRow{Fact::MicroTurns, Subject::MicroBatch, "turns", over(Scope::Trained, turns), false, false,
            "Turns that each rollout executed, 0 or more."},
    FactRow{Fact::MicroGram, Subject::MicroBatch, "gram", square_over(Scope::Trained), false, false,
            "The inner products of the gradients of its rollouts, as far as the trainer gives them."},
    // ---- an anchor: a prefix of a finished rollout
    FactRow{Fact::AnchorTurn, Subject::Anchor, "turn", turns, false, false,
            "Turns of the prefix after which a branch would begin, 1 or more."},
    FactRow{Fact::AnchorTurns, Subject::Anchor, "turns", turns, false, false,
            "Turns that the whole rollout executed, 1 or more."},
    FactRow{Fact::AnchorValue, Subject::Anchor, "value", optional(prob()), false, false,
            "The chance of a hit from here on, as the host estimates it, 0..1; undefined without an estimate."},
    FactRow{Fact::AnchorReward, Subject::Anchor, "reward", optional(real), true, false,
            "The reward of the whole rollout; undefined while unscored."},
    FactRow{Fact::AnchorSample, Subject::Anchor, "sample", integer, false, false,
            "Index of its rollout within the group, from 0."},
    FactRow{Fact::AnchorSlot, Subject::Anchor, "slot", integer, false, false,
            "The place of its group in the batch, from 0."},
    FactRow{Fact::AnchorPrompt, Subject::Anchor, "prompt", plain(Base::Prompt), false, false,
            "Its prompt: the key of state per prompt."},
    // ---- a token in the loss
    FactRow{Fact::TokenLogProb, Subject::Token, "logprob", real, false, false,
            "Log-probability of the token under the model that is trained, nats. A loss has its slope in it."},
    FactRow{Fact::TokenOldLogProb, Subject::Token, "old_logprob", real, false, false,
            "Log-probability of the token when it was written, nats."},
    FactRow{Fact::TokenReference, Subject::Token, "reference_logprob", optional(real), false, false,
            "Log-probability of the token under the reference model, nats; undefined where the run has none."},
    FactRow{Fact::TokenAdvantage, Subject::Token, "advantage", real, false, false,
            "The advantage of its rollout or turn, as it was shaped."},
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

constexpr std::array<std::string_view, 16> point_names{"select", "size",   "turn",   "result", "wave",  "finish",
                                                       "resume", "expand", "score",  "shape",  "replay", "loss",
                                                       "update", "epoch",  "tokens", "eval"};

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
  switch (row.fact) {
    case Fact::Advantages:
    case Fact::Advantage:
    case Fact::Embeddings:
      return point == Point::Shape;
    case Fact::EmptySlots:
      return point == Point::Replay;
    // A token has no prompt of its own, and its loss is asked of by several threads while nothing is booked.
    case Fact::Draw:
    case Fact::BudgetTotal:
    case Fact::BudgetSpent:
    case Fact::BudgetLeft:
      return point != Point::Loss;
    default:
      return !row.reward || (point != Point::Select && point != Point::Size && point != Point::Turn &&
                             point != Point::Tokens);
  }
}

Fact element_of(Fact fact) {
  switch (fact) {
    case Fact::Rewards:
    case Fact::MicroRewards:
      return Fact::Reward;
    case Fact::RawRewards:
      return Fact::RawReward;
    case Fact::Advantages:
    case Fact::MicroAdvantages:
      return Fact::Advantage;
    case Fact::Classes:
    case Fact::MicroClasses:
      return Fact::Class;
    case Fact::MicroGroups:
      return Fact::RolloutGroup;
    case Fact::MicroTokens:
      return Fact::RolloutTokens;
    case Fact::MicroTurns:
      return Fact::RolloutTurns;
    default:
      return fact;
  }
}

}  // namespace allot::lang
