// A folder of a run that goes away with its test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace allot::engine::bench {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("allot_run_{}_{}", ::getpid(), ++count_)) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path segment(int number) const { return path_ / "journal" / fmt::format("{:06}.jsonl", number); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

// One that is there from the beginning.
struct MadeFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("allot_made_{}_{}", ::getpid(), ++count);
  MadeFolder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~MadeFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  static inline int count = 0;
};

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace allot::engine::bench
