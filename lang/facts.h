// The facts a policy can read: one row each, with type, meaning, and the decision points where it is known.
//
// A fact of a group is read as `g.hits`, of a rollout as `r.tokens`, of a batch as `b.slots`, of the run by its bare
// name. Statistics of a group's actions are written as calls (`mean_pairwise(…, prefixes(g.actions, 10, padded))`) and
// become facts with arguments when checked. Adding a fact is one row here and one case in runtime/engine/facts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lang/types.h"

namespace allot::lang {

enum class Point { Select, Size, Turn, Result, Wave, Finish, Resume, Expand, Score, Shape, Replay, Loss, Update, Epoch, Eval };
std::string_view name(Point point);

enum class Subject { Run, Batch, Group, Rollout };

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
  PromptKey,       // prompt
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
  BudgetTotal, BudgetSpent, BudgetLeft,    // count in the unit of the argument word: rollouts, tokens, calls, seconds
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
  bool reward;            // known from `result` on: refused at `size` and `turn`
  bool measured;          // depends on when it is asked: makes a policy audit-only
  std::string_view doc;   // one sentence with unit and range
};

std::span<const FactRow> fact_rows();
const FactRow& row(Fact fact);
const FactRow* find_fact(Subject subject, std::string_view name);
bool known_at(const FactRow& row, Point point);

}  // namespace allot::lang
