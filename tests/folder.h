// A folder of temporary files that goes away with its test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace allot::test {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() /
                   ("allot-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count_))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Folders on the way are made.
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

}  // namespace allot::test
