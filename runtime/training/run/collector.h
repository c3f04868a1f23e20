// Rolls out one iteration: sessions of a world, rows of a sampler, and an engine whose orders are carried out.
//
// The rollouts of a group start together. A rollout that is stopped leaves the batch at once and its place is refilled
// by whatever waits. What a rollout samples depends on (seed, iteration, prompt, sample) alone, so the same weights
// give the same rollout again whoever shares the batch; the outcome of a stopped group is learnt that way, afterwards.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/engine.h"
#include "runtime/training/run/rollout.h"
#include "runtime/training/sampler.h"
#include "runtime/training/tokenizer.h"
#include "runtime/worlds/world.h"

namespace allot::training {

struct CollectOptions {
  std::uint64_t seed = 0;
  int turn_limit = 30;
  int tokens_per_turn = 6;
  int group_size = 8;
};

// A stop that the host orders itself, for the arms that a policy is compared with: asked once per group, when every
// live rollout has executed `turn` turns.
struct HostGate {
  int turn = 0;
  std::function<bool(const std::string& prompt, int slot)> stop;  // empty: never
  std::string reason;
};

class Collector {
 public:
  // All three must outlive the collector.
  Collector(worlds::World& world, const Tokenizer& tokenizer, CollectOptions options);

  // `tasks` is the host's order of this iteration. `interrupt` set to true ends it early with an error. Rollouts of
  // groups that wait are left in `waiting`, and taken from there when such a group ends.
  Result<Collected> collect(Sampler& sampler, engine::Engine& engine, int iteration,
                            const std::vector<const worlds::Task*>& tasks, const HostGate& gate = {},
                            const std::atomic<bool>* interrupt = nullptr, KeptRollouts* waiting = nullptr);

  const CollectOptions& options() const { return options_; }
  worlds::World& world() { return world_; }

 private:
  struct Live;
  class Iteration;

  Result<std::unique_ptr<worlds::Session>> session();

  worlds::World& world_;
  const Tokenizer& tokenizer_;
  CollectOptions options_;
  std::map<std::string, const worlds::Task*> tasks_;  // every task of the world: a policy may choose any of them
  std::vector<std::unique_ptr<worlds::Session>> idle_;
  int open_ = 0;
};

// The tokens of an observation as the model sees it: its words and a line break.
std::vector<int> observation_tokens(const Tokenizer& tokenizer, const std::string& observation);

}  // namespace allot::training
