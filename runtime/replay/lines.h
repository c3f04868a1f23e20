// Lines of a text file or of one that gzip has packed, each bounded, so that no file can fill the memory.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/result.h"

namespace allot::replay {

class Lines {
 public:
  static constexpr std::size_t most_bytes = 64 << 20;  // of one line

  // An error says why the file cannot be read.
  static Result<Lines> open(const std::filesystem::path& file);

  // False at the end of the file. An error: a line that is too long, or a file that cannot be read to its end.
  Result<bool> next(std::string& line);
  int number() const { return number_; }          // of the last line, from 1
  bool whole() const { return whole_; }           // it ended with a line end

 private:
  struct Close {
    void operator()(void* file) const;
  };
  explicit Lines(void* file);
  Result<bool> fill();

  std::unique_ptr<void, Close> file_;  // zlib's
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  int number_ = 0;
  bool whole_ = true;
};

}  // namespace allot::replay
