// What passes between a driver (trainer, replay, adapter) and the engine: events one way, orders the other.
//
// A driver knows nothing of the language. It reports what happened and carries out the orders it gets back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace allot::engine {

// A rollout of the run: `group` counts groups from 0 over the whole run, `sample` rollouts within the group.
struct RolloutRef {
  int group = -1;
  int sample = -1;
  friend bool operator==(const RolloutRef&, const RolloutRef&) = default;
};

enum class Status { NeverStarted, Running, Completed, Truncated, Stopped, Aborted, Timeout, Error };
std::string_view name(Status status);  // the words of `rollout/1`: "completed", "truncated", …

// One executed turn of a rollout. `action` is the world's canonical form; "invalid" for one it could not parse.
struct Turn {
  std::string action;
  std::string observation;
  bool valid = true;
  int tokens = 0;              // tokens the model wrote in this turn
  double logprob = 0;          // their summed log-probability, nats
  double entropy = 0;          // their summed entropy, nats
  int calls = 0;               // tool calls
  // The rollout's last turn: it ended by it, and ended() follows. From here on it is not live, so that what a `turn`
  // point sees does not depend on whether the score or a sibling's turn is reported first.
  bool last = false;
};

// A driver that counts below 0 made a mistake, which would become everybody's in the ledger.
Result<void> check_turn(RolloutRef rollout, const Turn& turn);

// How a rollout ended by itself (a stopped one ends by order and is not reported again).
struct Ending {
  Status status = Status::Completed;
  std::optional<double> reward;      // what is trained on; none: unscored. Non-finite counts as unscored.
  std::optional<double> raw_reward;  // what the environment gave, where it differs from `reward`
  std::string cause;                 // for errors: what went wrong
  std::string answer;                // its answer in canonical form, where the world has one: equal ones are one class
};

// A prompt that may be drawn, as the host describes it.
struct PoolPrompt {
  std::string key;
  std::string category;  // empty: none; such prompts share one
  friend bool operator==(const PoolPrompt&, const PoolPrompt&) = default;
};

// What a driver can do beside starting, stopping and training: a policy that asks for more is refused before the run.
struct Abilities {
  bool defers = false;    // keeps the rollouts of a group over iterations, with the log-probabilities they had
  bool shapes = false;    // asks Engine::shape() before the loss
  bool replays = false;   // keeps the rollouts of trained groups as long as Engine::replay_age() says
  bool branches = false;  // starts rollouts from a prefix of another
  bool losses = false;    // takes the loss of each token from Engine::token_loss()
  bool scores = false;    // trains on the rewards of GroupResult, which `score` may have set
};

// Start `count` rollouts of `group`, samples `first` .. `first + count - 1`.
struct Start {
  int group = -1;
  std::string prompt;
  int first = 0;
  int count = 0;
};

enum class Fate { Trained, Dropped, Surplus, Cancelled };
enum class NormalizeOver { Group, Subset };

// Counts of what the gate said of one group, for the run's table.
struct GateNote {
  bool asked = false;     // a handler of a `turn` point was evaluated for this group
  bool stop = false;      // it said stop
  bool late = false;      // … when no rollout was alive any more: nothing could be saved
  bool carried_out = false;  // the stop was carried out (false in shadow, in the holdout, and where late)
};

// A group that ended, with what is to become of it.
struct GroupResult {
  int group = -1;
  std::string prompt;
  int slot = -1;
  int round = 1;
  Fate fate = Fate::Trained;
  std::vector<int> subset;  // samples to train on; ascending
  NormalizeOver normalize = NormalizeOver::Subset;
  bool flat = false;        // over the scored rewards; false below two of them
  std::string reason;       // rendered; empty where no rule gave one
  std::string rule;         // "file:line" of the rule that decided the fate; empty where none did
  std::string policy;       // hash of the version that decided about the group; empty without a policy
  GateNote gate;
  std::vector<std::optional<double>> rewards;  // by sample, as trained on: those of `score` where the policy sets them
  std::vector<int> iterations;                 // by sample: in which it was started, so under which weights
};

struct Orders {
  std::vector<Start> start;
  std::vector<RolloutRef> stop;     // end these now; they are `stopped` from here on
  std::vector<RolloutRef> hold;     // do not take another turn until released
  std::vector<RolloutRef> release;
  std::vector<GroupResult> closed;
  // Groups that wait for a later iteration or a later round of this one. Their rollouts have ended and must be kept:
  // when such a group resumes, `start` names it again, and its result speaks of all its samples.
  std::vector<int> deferred;
  bool batch_closed = false;        // nothing is outstanding: call end_iteration

  void append(Orders more);
};

}  // namespace allot::engine
