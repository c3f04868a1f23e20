// The run folder: metrics (JSONL and TensorBoard), logged rollouts in the `rollout/1` schema, the policy with its hash.
// The journal beside them is the engine's.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "common/result.h"
#include "runtime/training/run/rollout.h"
#include "runtime/training/run/tensorboard.h"

namespace allot::training {

struct PolicyStamp {
  std::string name;  // empty without a policy
  std::string hash;
};

// Whether an arm can be continued where it was: what it told of must be in its checkpoint.
Result<void> check_resumable(const std::filesystem::path& arm);

class RunFolder {
 public:
  // Makes the folder; an existing run is continued when `resume`, else refused so that nothing is overwritten.
  static Result<RunFolder> open(const std::filesystem::path& path, bool resume);

  const std::filesystem::path& path() const { return path_; }
  // Takes back what was written of iteration `first` and later: a killed run may have told of one that its checkpoint
  // does not hold, and will run it again. A line that was cut short goes too.
  Result<void> forget_from(int first);
  Result<void> keep_policy(const std::filesystem::path& file, const PolicyStamp& stamp);
  // Content hash of the policy that was kept; empty without one.
  std::string kept_policy() const;
  Result<void> metrics(int iteration, const std::map<std::string, double>& values, double seconds);
  // One line per rollout, dropped groups included.
  Result<void> rollouts(int iteration, const Collected& collected, int planned, const PolicyStamp& policy);

 private:
  RunFolder(std::filesystem::path path, std::ofstream metrics, std::ofstream rollouts, TensorBoardWriter board);
  std::filesystem::path path_;
  std::ofstream metrics_;
  std::ofstream rollouts_;
  TensorBoardWriter board_;
};

}  // namespace allot::training
