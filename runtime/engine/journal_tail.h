// The end of a journal that is still being written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"

namespace allot::engine {

class JournalTail {
 public:
  explicit JournalTail(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Calls `use` for each whole good record that was not there the last time. What is damaged is told, a place a line.
  Result<std::vector<std::string>> poll(const std::function<void(const nlohmann::ordered_json&)>& use);

 private:
  std::filesystem::path folder_;
  std::size_t segment_ = 0;      // the one that is read
  std::int64_t line_ = 0;        // lines of it that were read
  std::int64_t offset_ = 0;      // where the next one begins
};

}  // namespace allot::engine
