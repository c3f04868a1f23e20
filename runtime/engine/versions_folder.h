// The texts of all policies that a run was under, by content hash, and the state at each swap: `versions/` in its folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/swaps.h"

namespace allot::engine {

// What is kept is on disk when these return. Nothing is done without a folder, a policy, or its text.
Result<void> keep_text(const std::filesystem::path& run, const Policy* policy);
Result<PolicyText> kept_text(const std::filesystem::path& run, const std::string& hash);

// A snapshot (runtime/engine/snapshot.h) as of the swap that replaced version `number` where the run stood `at`.
Result<void> keep_state(const std::filesystem::path& run, int number, const std::string& at, const std::string& snapshot);
// The same by the thread behind the barrier, unless it is there already; where it fails, `state` tells why.
void keep_state(const std::filesystem::path& run, StateThen& state);
// Those that are not there yet.
std::vector<std::shared_ptr<StateThen>> unkept(const std::vector<Replaced>& replaced);
// `at` is empty where a state of an older program names it.
Result<std::string> kept_state(const std::filesystem::path& run, int number, const std::string& at);

// Versions that are kept elsewhere than in a run folder.
class KeptVersions {
 public:
  virtual ~KeptVersions() = default;
  virtual Result<std::shared_ptr<Policy>> policy(int number, const std::string& hash) = 0;
  virtual void keep_state(const StateThen& state) = 0;
  virtual std::shared_ptr<const std::string> state(int number, const std::string& at) const = 0;  // null where none was kept
};

}  // namespace allot::engine
