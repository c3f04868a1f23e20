// One trajectory as the trainer keeps it: the token sequence that is trained on, and the turns that people read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/events.h"

namespace allot::training {

struct RolloutTurn {
  std::string observation;  // what the model saw before it acted
  std::string raw;          // what it wrote
  std::string action;       // what the world understood
  bool valid = true;
  int tokens = 0;
};

struct Rollout {
  engine::RolloutRef ref;
  int iteration = 0;                  // in which it was started: the weights that sampled it
  std::string prompt;                 // the task's id
  engine::Status status = engine::Status::Running;
  std::optional<double> reward;
  std::vector<int> tokens;            // observations and actions, in order
  std::vector<std::uint8_t> trained;  // 1 where the model wrote the token
  std::vector<float> logprobs;        // of the model's own tokens under the sampling policy; 0 elsewhere
  std::vector<RolloutTurn> turns;
  int generated = 0;                  // tokens the model wrote
  double seconds_start = 0;           // since the start of the run
  double seconds_end = 0;
  std::string cause;                  // of an error
};

// Rollouts of groups that wait for a later iteration, or that may be replayed, by group.
using KeptRollouts = std::map<int, std::vector<Rollout>>;

// What one iteration of one arm collected.
struct Collected {
  std::vector<Rollout> rollouts;                   // of the groups that ended, in order of group and sample
  std::vector<engine::GroupResult> groups;
  double seconds = 0;                              // of rolling out, engine included
};

}  // namespace allot::training
