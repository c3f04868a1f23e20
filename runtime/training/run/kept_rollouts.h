// Rollouts that outlive their iteration, for the checkpoint of a run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/training/run/rollout.h"

namespace allot::training {

nlohmann::json save(const KeptRollouts& kept);
// Throws what nlohmann throws where the JSON is of another form.
KeptRollouts restore_rollouts(const nlohmann::json& saved);

// A group that may be replayed: its rollouts and what was trained on of them.
struct StoredGroup {
  int iteration = 0;  // in which it was trained on
  engine::GroupResult result;
  std::vector<Rollout> rollouts;
};
using StoredGroups = std::map<int, StoredGroup>;

nlohmann::json save(const StoredGroups& stored);
StoredGroups restore_groups(const nlohmann::json& saved);

}  // namespace allot::training
