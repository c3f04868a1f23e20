// Scalars in the event files that TensorBoard reads: TFRecord framing around protobuf `Event` messages, written by
// hand since four fields are all that is needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/result.h"

namespace allot::training {

class TensorBoardWriter {
 public:
  static Result<TensorBoardWriter> open(const std::filesystem::path& folder, double wall_seconds);
  void scalar(const std::string& tag, std::int64_t iteration, double value, double wall_seconds);
  void flush() { out_.flush(); }

 private:
  explicit TensorBoardWriter(std::ofstream out) : out_(std::move(out)) {}
  void record(const std::string& event);
  std::ofstream out_;
};

}  // namespace allot::training
