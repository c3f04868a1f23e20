// One arm of a run: a model with its optimiser, an engine, and what they cost so far. All arms of a seed start from the
// same weights and draw the same prompts.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/swap_desk.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/run/collector.h"
#include "runtime/training/run/kept_rollouts.h"
#include "runtime/training/run/options.h"
#include "runtime/training/run/pool.h"
#include "runtime/training/run/run_folder.h"
#include "runtime/training/run/tally.h"

namespace allot::training {

enum class ArmKind {
  None,    // no policy
  Policy,  // the policy file
  Random,  // as many groups stopped as the policy arm stopped, chosen at random, at the same turn
  Oracle   // stops exactly the groups that will be flat, at the same turn
};
Result<ArmKind> parse_arm(const std::string& name);

// What all arms of a seed share.
struct ArmSetting {
  const RunOptions* options = nullptr;
  worlds::World* world = nullptr;
  const Tokenizer* tokenizer = nullptr;
  std::uint64_t seed = 0;
  int turn_limit = 30;
  const std::atomic<bool>* interrupt = nullptr;
};

// What the engine of an arm is made from, run folder aside.
engine::Settings engine_settings(const ArmSetting& setting, ArmKind kind);

class Arm {
 public:
  // `weights` is copied. `folder` is the arm's own run folder.
  static Result<std::unique_ptr<Arm>> make(ArmKind kind, const std::string& name, const ArmSetting& setting,
                                           const Model& weights, const std::filesystem::path& folder, bool resume);

  // One iteration: roll out, learn, pass the barrier. `stops` is the number of groups to stop, read by Random alone.
  // Returns the line a person reads.
  Result<std::string> iterate(int stops);
  // Success on the held-out tasks, into the tally. Off the clock.
  Result<void> evaluate();

  ArmKind kind() const { return kind_; }
  int next_iteration() const { return iteration_; }
  int last_stops() const { return last_stops_; }
  // How the budget of the run stands that covers no rollout any more; empty while there is one left to start or to wait for.
  std::string used_up() const { return engine_->used_up(); }
  // What was said of swaps since the last iteration told of them, a line each.
  std::vector<std::string> take_messages();
  const ArmTally& tally() const { return tally_; }
  const std::string& policy_name() const { return stamp_.name; }

 private:
  Arm(ArmKind kind, const ArmSetting& setting, Model model, RunFolder folder);
  Result<void> start_engine(bool resumes);
  Result<void> open_desk();
  Result<void> save();
  Result<void> load();
  HostGate host_gate(const std::vector<const worlds::Task*>& tasks, int stops);
  Result<std::set<std::string>> flat_prompts(const std::vector<const worlds::Task*>& tasks);
  Result<Collected> off_clock(const std::vector<const worlds::Task*>& tasks);
  Result<void> learn_outcomes(const Collected& collected);
  Result<UpdateReport> update(const Collected& collected, const engine::IterationReport& plan);
  void keep_for_replay(const Collected& collected, const engine::IterationReport& plan);
  std::vector<const worlds::Task*> draw();

  ArmKind kind_;
  ArmSetting setting_;
  Model model_;
  RunFolder folder_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::SwapDesk> desk_;  // of the arm with a policy; after the engine that it serves
  Collector collector_;
  PromptPool pool_;
  std::map<std::string, std::size_t> task_index_;
  ArmTally tally_;
  PolicyStamp stamp_;
  KeptRollouts waiting_;    // of groups that are deferred
  StoredGroups stored_;     // that may be replayed
  std::set<std::string> oracle_flat_;
  std::set<int> random_slots_;
  int iteration_ = 0;
  int last_stops_ = 0;
  int owed_stops_ = 0;  // Random: stops not yet made, carried to the next iteration
};

}  // namespace allot::training
