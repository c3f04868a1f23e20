// The plain log of one live group: what its rollouts did, as symbols and numbers, and nothing derived.
//
// Every statistic can be rebuilt from it, so a policy that comes in later finds its statistics without having been
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/events.h"
#include "runtime/statistics/interner.h"

namespace allot::engine {

using statistics::Symbol;

// What a rollout holds of the budget while it runs; given back by Ledger alone.
struct Permit {
  bool rollout = false;        // one rollout is reserved
  std::int64_t tokens = 0;     // for the turn that is under way
  std::int64_t calls = 0;
};

struct TurnNumbers {
  std::int64_t tokens = 0;
  double logprob = 0;  // summed over its tokens, nats
  double entropy = 0;
};

struct RolloutLog {
  int iteration = 0;       // in which it was started: its policy version
  Status status = Status::Running;
  bool last_turn = false;  // its last turn was reported, its ending not yet
  bool held = false;
  std::vector<Symbol> actions;       // one a turn
  std::vector<Symbol> observations;  // one a turn, the reply to that action
  std::int64_t tokens = 0;
  std::int64_t calls = 0;
  std::int64_t invalid = 0;          // turns whose action could not be parsed
  double logprob = 0;                // summed over its tokens, nats
  double entropy = 0;                // summed over its tokens, nats
  std::vector<TurnNumbers> each_turn;  // kept where a policy reads them
  std::optional<double> reward;      // finite, or unscored
  std::optional<double> raw_reward;  // finite, where the environment's differs from `reward`
  bool nonfinite = false;
  std::optional<bool> hit;           // undefined while unscored, and where the condition faults
  std::string cause;
  std::string answer;
  Permit permit;

  int turns() const { return static_cast<int>(actions.size()); }
  bool outstanding() const { return status == Status::Running; }
  bool live() const { return status == Status::Running && !last_turn; }
  bool errored() const { return status == Status::Error || status == Status::Timeout; }
  bool scored() const { return reward.has_value(); }
  // An error or an abort cut its actions short at a place that says nothing of what it would have done.
  bool left_out() const { return errored() || status == Status::Aborted; }
};

// Counts over a group's rollouts, and its rewards' moments; undefined values stay undefined.
struct GroupCounts {
  int started = 0, live = 0, outstanding = 0, errors = 0, scored = 0, nonfinite = 0;
  int hits = 0, misses = 0;
  std::int64_t tokens = 0, calls = 0, turns = 0;
};

struct GroupLog {
  int group = -1;
  int iteration = 0;
  int slot = 0;
  int round = 1;
  int wave = 0;      // waves ended
  std::string prompt;
  std::string category;  // of its prompt, by the host
  int planned = 0;   // rollouts it may reach when nothing is said: `up to` of start, else its size
  int cap = 0;       // most rollouts a verdict may bring it to
  statistics::Interner actions;
  statistics::Interner observations;
  std::vector<RolloutLog> rollouts;  // started ones, by sample

  // Adds one executed turn. Observations (no fact but `loop` reads them) and the numbers of single turns are kept only
  // on request.
  void append(int sample, const Turn& turn, bool keep_observation, bool keep_numbers = false);

  // What append() of the next turn of a rollout will change, and the way back to it.
  struct Mark {
    std::int64_t tokens = 0, calls = 0, invalid = 0;
    double logprob = 0, entropy = 0;
    std::size_t turns = 0, observations = 0, each_turn = 0;
    int known_actions = 0, known_observations = 0;
  };
  Mark mark(int sample) const;
  void go_back(int sample, const Mark& mark);

  bool observed() const;                        // whether the observation of every turn was kept
  GroupCounts counts() const;
  bool outstanding() const;                     // whether some rollout is
  std::optional<int> least_live_turns() const;  // undefined where none is live
  std::vector<double> scored_rewards() const;   // by sample
  // At least two scored rewards, max − min <= tolerance.
  bool flat(double tolerance) const;
  // Class of a rollout's answer among those of the group: 0 for the answer of the lowest sample that has one, then in
  // order of first appearance. Undefined without an answer.
  std::optional<int> answer_class(int sample) const;
};

}  // namespace allot::engine
