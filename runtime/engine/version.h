// One version of the policy, as the engine asks it. Groups hold the one they were opened under, so a version and its
// code go when the last of them has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/judge.h"
#include "runtime/engine/judges.h"
#include "runtime/engine/points.h"
#include "runtime/engine/policy.h"

namespace allot::engine {

struct Version {
  Version(int number, std::shared_ptr<Policy> policy);
  // It takes its place in the run; before it has decided anything.
  void become(int number);

  const lang::Program& program() const { return policy->program(); }
  const std::string& hash() const { return policy->program().hash; }
  // Of all its judges.
  JudgeCounts counts() const;
  void reset_counts();

  int number = 0;  // 0: what the run began with; counts on over the whole run
  std::shared_ptr<Policy> policy;
  Judge judge;    // for who has the whole engine
  Judges beside;  // … and for questions about one group, asked beside those about others
  Points points;
  Demands demands;
  StatisticsPlan plan;
  // By handler: it looks at nothing that another group's turns change, and does nothing but remember; `hit`: … looks at.
  std::vector<bool> own_group;
  bool own_hit = true;
  int replay_age = 0;  // the oldest age that `replay` may ask for, where that is a number or a parameter
};

// Where both may decide side by side in one iteration: they remember the same and spend from the same budgets, and ask
// the same of the host.
bool same_frame(const Version& one, const Version& other);
// The first reason why not, for people: "the state `belief` differs"; empty where same_frame().
std::string frame_difference(const Version& one, const Version& other);

// The same in the same order: what a policy with the ones remembers, one with the others takes as it stands.
bool same_states(const std::vector<lang::State>& ones, const std::vector<lang::State>& others);

// Handlers that rank groups or prompts against each other: a batch has one version of them.
bool ranks(const lang::Program& program);

}  // namespace allot::engine
