// What a policy decides on made-up groups that anyone can picture, found out by running them through the engine.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"

namespace allot::cli {

inline constexpr int example_rollouts = 8;
inline constexpr int example_turns = 30;

struct ExampleGroup {
  std::string description;  // "8 rollouts take the same actions, none is rewarded"
  std::string fate;         // "trained" | "dropped" | "surplus" | "cancelled"
  int trained_on = 0;       // rollouts
  int started = 0;          // rollouts
  int turns = 0;            // executed over all its rollouts
  std::string reason;       // empty where no rule gave one
  std::string rule;         // "file:line"; empty for the default
};

// One iteration of three groups under the policy in `path`.
Result<std::vector<ExampleGroup>> decide_examples(const std::filesystem::path& path,
                                                  const std::map<std::string, std::string>& parameters);

}  // namespace allot::cli
