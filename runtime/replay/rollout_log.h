// Logged rollouts in the schema `rollout/1`: one JSON object a line, as `allot train` writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/events.h"

namespace allot::replay {

struct LoggedRollout {
  std::string group;
  std::string prompt;
  std::int64_t sample = 0;
  std::int64_t step = 0;                 // the iteration it was scheduled for
  std::optional<std::int64_t> planned;   // size of its group
  engine::Status status = engine::Status::Completed;
  std::optional<double> reward;          // none: unscored
  std::optional<std::int64_t> tokens;    // written by the model, over all turns
  std::vector<engine::Turn> turns;       // tokens of a turn are 0 where the log does not say
  int line = 0;
};

// Reads the file line by line; gzip may have packed it. `use` gets every rollout in order; its error ends the reading.
// Fields that are not needed are skipped, numbers in texts are read as numbers and counted, NaN and null are unscored.
// Errors name file and line: no JSON, another schema, a field that is compulsory and missing, a value of another type or
// range than its field, an infinite reward, a line beyond 64 MiB. A last line that was cut short is left out and counted.
struct ReadReport {
  int rollouts = 0;
  int cut_lines = 0;
  int without_turns = 0;
  std::int64_t turns_without_action = 0;  // valid ones: an invalid turn has none
  std::int64_t turns_without_tokens = 0;
  std::int64_t numbers_as_texts = 0;
};
Result<ReadReport> read_rollouts(const std::filesystem::path& file,
                                 const std::function<Result<void>(LoggedRollout)>& use);

}  // namespace allot::replay
