// The facts a policy can read: one row each, with type, meaning, and the decision points where it is known.
//
// A fact of a group is read as `g.hits`, of a rollout as `r.tokens`, of a batch as `b.slots`, of a pool as `p.size`, of
// a prompt's history as `q.hit_rate`, of the run by its bare name. Statistics of a group's actions are written as calls (`mean_pairwise(…, prefixes(g.actions, 10, padded))`) and
// become facts with arguments when checked. Adding a fact is one row here and one case in runtime/engine/facts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lang/types.h"

namespace allot::lang {

enum class Point {
  Select, Size, Turn, Result, Wave, Finish, Resume, Expand, Score, Shape, Replay, Loss, Update, Epoch,
  Tokens,  // `every N tokens of rollout`
  Eval     // no decision point: `hit when …`, `allot eval`
};
std::string_view name(Point point);

// Whom a handler is asked about, and what a fact is a fact of.
enum class Subject {
  Run, Batch, Group, Rollout,
  Pool,        // the prompts that may be drawn
  Prompt,      // one prompt with its history: the variable of a walk over p.prompts, p.known or b.prompts
  MicroBatch,  // the rollouts of one forward and backward pass
  Anchor,          // a prefix of a finished rollout at which the world can be restored
  Token            // a token that is trained on, in the loss
};

enum class Fact {
  // group: `g.`
  Turn,            // turns: executed by every live rollout; at `turn N` it is N
  Started,         // rollouts started so far
  Planned,         // rollouts the group may reach (`up to` of start, else its size)
  Alive,           // rollouts running now
  Ended,           // rollouts that ended, however
  Errors,          // rollouts that ended in error or timeout
  Scored,          // rollouts with a finite reward
  Nonfinite,       // rollouts whose reward was NaN or infinite (unscored)
  Hits,            // rollouts that met the `hit` condition
  Misses,          // scored rollouts that did not
  HitRate,         // real?: hits / scored
  Rewards,         // vec<real?> over rollouts
  RawRewards,      // vec<real?> over rollouts
  RewardMean, RewardMin, RewardMax, RewardSum,  // real?: undefined without a scored rollout
  RewardVariance, RewardStd,                    // real?: divisor n (ddof 0); `variance(g.rewards, ddof)` chooses
  Flat,            // bool: at least two scored, max - min <= tolerance
  Tokens,          // tokens written by the group
  Calls,           // tool calls of the group
  Wave,            // int: waves ended, 1 at the first `wave`
  Round,           // int: fill of the batch in which the group was opened
  Slot,            // int
  Age,             // iterations since the group was opened
  PromptKey,       // prompt; over Prompts, Pool and Known too, where it is the prompt itself
  GroupCategory,   // category of its prompt
  FirstRollout,    // of a group among others: the place of its first rollout among those of all of them
  Advantages,      // vec<real?> over rollouts, at `shape`: undefined where not trained on
  Classes,         // vec<int?> over rollouts
  Embeddings,      // mat<real>, rows over rollouts, at `shape`: one embedding a row
  TurnSamples,     // vec<int> over all turns: the sample of each
  TurnRewards,     // vec<real?> over all turns: the rollout's reward in its last turn, 0 before
  TurnStates,      // vec<int?> over all turns: class of what was seen before the turn, by first appearance
  // rollout: `r.`
  Sample,          // int: index within the group
  RolloutAlive,    // bool
  RolloutEnded,    // bool: ended by itself
  RolloutStopped,  // bool
  RolloutErrored,  // bool
  RolloutScored,   // bool
  Reward,          // real?
  RawReward,       // real?
  RolloutHit,      // bool?: undefined while unscored
  RolloutTokens,   // tokens
  RolloutTurns,    // turns
  RolloutCalls,    // calls
  Invalid,         // turns whose action could not be parsed
  LogProb,         // real?: mean log-probability of its tokens, nats
  Entropy,         // real?: mean entropy of its tokens, nats
  RolloutTruncated,  // bool: ended by the limit on turns or tokens
  FirstEntropy,    // real?: mean entropy of the tokens of its first turn, nats
  LastEntropy,     // real?: mean entropy of the tokens of its latest turn, nats
  Advantage,       // real?: at `shape`; undefined where not trained on
  Class,           // int?: class of its answer among the group's, by first appearance; undefined without an answer
  RolloutGroup,    // int: its group within the micro-batch or batch, from 0
  RolloutPrompt,   // prompt
  RolloutCategory, // category of its prompt
  TurnTokens,      // vec<tokens> over turns: read where the rollout is the handler's own
  TurnLogProbs,    // vec<real?> over turns: mean log-probability of the tokens of each turn, nats
  TurnEntropies,   // vec<real?> over turns: mean entropy of the tokens of each turn, nats
  // statistics of actions (arguments in ReadKey::arguments)
  PairwiseMean, PairwiseMin, PairwiseMax,  // real?: (distance word, prefix length, padding word)
  UniquePrefixRatio,                       // real?: (prefix length, padding word)
  UniqueActionRatio,                       // real?: (turn number)
  Agreement,                               // real?: (turn number)
  ActionEntropy,                           // real?: (turn number, word bits | nats | normalized)
  FinishedFraction,                        // real?: (turn number)
  Repetition,                              // real per rollout: (n)
  Loop,                                    // bool per rollout: (k)
  // batch: `b.`
  Slots,           // groups: batch size of the host
  BatchSize,       // groups in the scope
  EmptySlots,      // groups: slots that no group has taken (at `replay`)
  BudgetTotal, BudgetSpent, BudgetLeft,    // count in the unit of the argument word: rollouts, tokens, calls, seconds
  // pool: `p.`
  PoolSlots,       // groups: batch size of the host
  PoolSize,        // prompts that may be drawn now
  PoolKnown,       // prompts of the pool, evicted ones too
  PoolEvicted,     // prompts that are evicted now
  PoolDue,         // groups that are deferred and due
  // prompt, its history: `q.`
  Seen,            // bool: a group of it was opened before
  LastIteration,   // iterations?: when its latest group was opened; undefined while unseen
  HistoryGroups,   // groups of it that were opened
  HistoryFlat,     // groups of it that were flat at their end
  HistoryStarted,  // rollouts of it that were started
  HistoryScored,   // rollouts of it that were scored
  HistoryHits, HistoryMisses,              // rollouts
  HistoryHitRate,  // prob?: hits / scored of its whole history
  LastHitRate,     // prob?: of its latest group
  HistoryMean,     // real?: mean reward of its whole history
  HistoryStd,      // real?: divisor n
  Evicted,         // bool: cannot be drawn now
  EvictedUntil,    // epochs?: when it comes back; undefined where it is not evicted or for good
  Deferred,        // bool: has a deferred group
  PromptCategory,  // category
  // micro-batch: `b.`
  MicroSize,       // int: rollouts in it
  MicroAdvantages, // vec<real> over Trained
  MicroRewards,    // vec<real?> over Trained
  MicroClasses,    // vec<int?> over Trained
  MicroGroups,     // vec<int> over Trained: RolloutGroup of each
  MicroTokens,     // vec<tokens> over Trained
  MicroTurns,      // vec<turns> over Trained
  MicroGram,       // mat<real>, rows and columns over Trained; a column of n² cells, row by row, width n
  // anchor: `a.`
  AnchorTurn,      // turns of the prefix, 1 or more
  AnchorTurns,     // turns of the whole rollout
  AnchorValue,     // prob?: the chance of a hit from here on, as the host estimates it
  AnchorReward,    // real?: of the whole rollout
  AnchorSample, AnchorSlot,                // int: which rollout of which group
  AnchorPrompt,    // prompt
  // token: `t.`
  TokenLogProb,    // real: of the model that is trained; what a loss has its slope in
  TokenOldLogProb, // real: of the model that wrote it
  TokenReference,  // real?: of the reference model; undefined without one
  TokenAdvantage,  // real
  // run: bare names
  Iteration,       // iterations, from 0
  Epoch,           // epochs, from 0
  Draw             // real in [0, 1): (name word)
};

struct FactRow {
  Fact fact;
  Subject subject;
  std::string_view name;  // after the dot, or the bare name; empty for statistics, which are written as calls
  Type type;              // scalar type; a rollout's fact read over the group becomes a vector
  bool reward;            // known from `result` on: refused at `size`, `turn` and `every … tokens`
  bool measured;          // depends on when it is asked: makes a policy audit-only
  std::string_view doc;   // one sentence with unit and range
};

std::span<const FactRow> fact_rows();
const FactRow& row(Fact fact);
const FactRow* find_fact(Subject subject, std::string_view name);
bool known_at(const FactRow& row, Point point);
// The fact of a rollout of which a vector fact is the column: Rewards is a column of Reward. Columns of a handler are
// always of facts of elements, never of vector facts. The fact itself where it is no vector.
Fact element_of(Fact fact);

}  // namespace allot::lang
