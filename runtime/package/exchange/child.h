// Another program, called with its words and never through a shell, in bounds of time and size.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace allot::package {

struct ChildLimits {
  int seconds = 120;
  std::size_t out_bytes = 16 << 20;   // of what it prints
  std::size_t file_bytes = 256 << 20; // of each file that it writes
};

struct ChildAnswer {
  int status = 0;    // exit status; 128 and more: the signal that ended it
  std::string out;
  std::string err;   // the end of it
};

// `environment` replaces or adds variables; those that begin with GIT_ are not passed on. An error where it cannot be
// started, takes too long or prints too much, and where Ctrl-C or the like came meanwhile: then it is ended, with all that it
// started. It does not outlive this process either.
Result<ChildAnswer> run_child(const std::vector<std::string>& words,
                              const std::vector<std::pair<std::string, std::string>>& environment, const ChildLimits& limits);

// A fresh folder for work, removed with all in it at the end.
class WorkFolder {
 public:
  static constexpr std::string_view name_begins = ".allot-new-";
  // Below `parent`, beside what it will become; an empty one: in the machine's folder for such.
  static Result<WorkFolder> make(const std::filesystem::path& parent = {});
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();
  const std::filesystem::path& path() const { return path_; }
  void keep() { path_.clear(); }  // it has become something else

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace allot::package
