// The engine stands between a policy and a driver: it keeps groups, ledger, state and journal, asks the policy at its
// decision points, and turns verdicts into orders. One engine per run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/events.h"
#include "runtime/engine/inputs.h"
#include "runtime/engine/policy_text.h"
#include "runtime/engine/swap.h"
#include "runtime/engine/token_loss.h"

namespace allot::engine {

struct Settings {
  std::filesystem::path policy;                   // a .allot file; empty: no policy, every point has its default
  // Hash of a policy whose text the run folder keeps: it is taken from there, whatever `policy` says now.
  std::string kept_policy;
  std::optional<PolicyText> policy_text;          // taken in the place of both, with the files that it brings along
  std::map<std::string, std::string> parameters;  // --set name=value
  InputValues inputs;                             // what the policy's `input`s are; input_file adds to them
  std::filesystem::path input_file;               // JSON, see read_inputs(); empty: none
  std::filesystem::path run_folder;               // journal and state; empty: keep nothing on disk
  std::uint64_t seed = 0;
  int slots = 8;             // groups trained on in one iteration
  int group_size = 8;        // rollouts of a group where the policy has no `size` handler
  int turn_limit = 30;
  int tokens_per_turn = 16;  // reserved before a turn, settled after it
  bool shadow = false;       // decide and log, change nothing
  double holdout = 0;        // share of stopped groups that run to the end all the same, 0..1
  std::optional<double> pause_below;  // fall back to shadow when the live precision of stops falls below this
  bool stop_on_fault = false;
  bool native = true;        // compile in the background and change over from the evaluator when ready
  bool has_raw_reward = false;
  bool keep_events = true;   // in the journal, so that replay_run() can play the run again; a microsecond a turn
  Abilities host;            // what the driver can do
  // Seconds since any moment, for budgets of seconds; empty: a steady clock, which no change of the date moves. Going
  // back counts as no time.
  std::function<double()> clock;
};

// The rollouts of one forward and backward pass, or those of one group, before the loss. All vectors are as long as
// `rollouts`.
struct MicroBatch {
  std::vector<RolloutRef> rollouts;
  std::vector<double> advantages;    // by the host's estimator
  std::vector<double> gram;          // row-major, empty where wants_gram() is false; see docs/training.md
  std::vector<double> embeddings = {};  // a row a rollout, empty where wants_embeddings() is false
};

// What is to be trained with; as long as the micro-batch.
struct Shaped {
  std::vector<double> advantages;
  std::vector<double> weights;       // of the loss; empty: 1
  // The advantage of each turn, where the policy sets them so; a rollout without any has one advantage.
  std::vector<std::vector<double>> turns = {};
};

struct IterationReport {
  int iteration = 0;
  int rounds = 1;                    // fills of the batch, the first included
  std::vector<int> trained;          // groups to train on, in slot order
  std::vector<int> replayed;         // earlier groups to train on once more, beside them
  bool skip_update = false;          // nothing to train on, or the policy's fallback says so
  bool aborted = false;              // the policy's fallback is `abort`; `message` says why
  std::string message;
  std::map<std::string, double> metrics;  // fixed set of names per policy; missing is 0
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(const Settings& settings);
  virtual ~Engine() = default;

  // The prompts that may be drawn, with what the host knows of them; before the first iteration or between two. A
  // policy that selects, evicts or remembers an epoch needs them. Without, the pool is the prompts of the iteration, and no
  // epoch ever ends. Each has a value of every input per prompt that is not optional.
  virtual Result<void> set_pool(std::vector<PoolPrompt> prompts) = 0;

  // `prompts` is the host's own order for this iteration, which `select` may change. Without that, with as many places
  // as slots: slot s takes prompts[(round - 1) * slots + s] in round `round`; evicted ones and those with a deferred
  // group are left out before. Prompts that were not opened and may be drawn again are named by unused_prompts() after
  // end_iteration.
  virtual Result<Orders> begin_iteration(int iteration, const std::vector<std::string>& prompts) = 0;
  // A turn was executed. The rollout may take its next turn unless the orders hold or stop it.
  virtual Result<Orders> turn(RolloutRef rollout, const Turn& turn) = 0;
  virtual Result<Orders> ended(RolloutRef rollout, const Ending& ending) = 0;
  // The barrier after the iteration's last optimiser step: `update`, state, journal.
  virtual Result<IterationReport> end_iteration() = 0;
  virtual std::vector<std::string> unused_prompts() const = 0;

  // What there is to train on in this iteration; valid once batch_closed was ordered, before end_iteration.
  virtual IterationReport preview() const = 0;

  // Asks `shape of group` (all rollouts of one group) or `shape of micro_batch`, between the batch's close and
  // end_iteration; gives back the advantages where there is no such handler.
  virtual Result<Shaped> shape_group(const MicroBatch& group) = 0;
  virtual Result<Shaped> shape(const MicroBatch& batch) = 0;
  // `on loss of token` with the state of this iteration, null without such a handler, in shadow and outside of an
  // iteration. Between the batch's close and end_iteration, by any thread.
  virtual std::shared_ptr<const TokenLoss> token_loss() = 0;
  virtual bool wants_gram() const = 0;
  virtual bool wants_embeddings() const = 0;
  virtual bool shapes_groups() const = 0;
  virtual bool shapes_micro_batches() const = 0;
  // For how many iterations the host keeps the rollouts of a group that was trained on; 0: there is no `replay`.
  virtual int replay_age() const = 0;

  // One opaque, self-checking text; restore() of an engine with the same policy continues to the same decisions.
  virtual std::string save_state() const = 0;
  virtual Result<void> restore(const std::string& state) = 0;
  // The same into a folder, which is there, and from it: of a large memory what has not changed since the last checkpoint
  // is not written again. On disk when this returns; it goes where the folder goes.
  virtual Result<void> save_state_in(const std::filesystem::path& folder);
  virtual Result<void> restore_from(const std::filesystem::path& folder);

  // Puts another policy in the place of the active one. Everything is prepared on the calling thread while decisions go
  // on; then one pointer is exchanged between two events. Groups that run end under the version they were opened under.
  virtual SwapReport swap(const SwapRequest& request) = 0;
  // A place among the requests for one that follows: of several under way the one announced last wins.
  virtual int announce_swap() = 0;
  // What became of a swap that was told to wait.
  virtual SwapReport swap_outcome(int ticket) const = 0;
  virtual int active_version() const = 0;  // counts swaps; 0: what the run began with
  virtual ActiveVersion active() const { return {active_version(), policy_hash()}; }
  // SwapReport::change of the latest that save_state() holds.
  virtual int saved_change() const = 0;
  // … of the latest that the run folder's own state.json holds: written behind the barrier's back, so it comes later.
  virtual int kept_change() const { return saved_change(); }
  // Whether a request of this id was carried out: also before the run was resumed, as far as the state knows.
  virtual bool carried_out(const std::string& request) const = 0;

  // How a budget of the run stands that covers no rollout any more, "40 of 40 rollouts", once no group waits either: from
  // then on every iteration is empty. Else empty. Between two iterations.
  virtual std::string used_up() const { return {}; }

  virtual double seconds_spent() const = 0;  // in policy and engine, for the share of the run's time
  virtual std::string policy_name() const = 0;
  virtual std::string policy_hash() const = 0;  // of the active version: SHA-256 of the source, hexadecimal; or empty
};

}  // namespace allot::engine
