// Where the files come from that a policy names.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace allot::lang {

struct FoundFile {
  std::string path;  // as people see it in messages
  std::string key;   // one file has one key, by whatever name it was found
  std::string text;
  std::string also = {};  // another file that the name could mean as well; empty where there is none
};

class Library {
 public:
  virtual ~Library() = default;
  // `name` is dotted: `team.gates` is team/gates.allot. `importing` is the path of the file that names it. The error
  // says where was looked.
  virtual Result<FoundFile> find(const std::string& name, const std::string& importing) const = 0;
  // The key of the file that begins it all, which was not found by a name.
  virtual std::string key(const std::string& path) const { return path; }
};

// Folders of the machine, in this order: that of the importing file, `folders`, then `stdlib` beside the importing file
// or above it, and beside or above the running program or the module that holds this.
class SearchPath : public Library {
 public:
  explicit SearchPath(std::vector<std::filesystem::path> folders = {}) : folders_(std::move(folders)) {}
  // `folders`, then those of the environment's ALLOT_PATH, parted by colons.
  static std::shared_ptr<const SearchPath> with_environment(std::vector<std::filesystem::path> folders = {});

  Result<FoundFile> find(const std::string& name, const std::string& importing) const override;
  // Only in the folder of the importing file and in `folders`; nothing where there is no such file.
  std::optional<Result<FoundFile>> find_local(const std::string& name, const std::string& importing) const;
  std::string key(const std::string& path) const override;

 private:
  std::vector<std::filesystem::path> local_places(const std::string& importing) const;
  std::vector<std::filesystem::path> folders_;
};

// The file of this dotted name in the `stdlib` that is beside or above the running program, or the module that holds this; nothing where it has none.
std::optional<std::filesystem::path> standard_file(const std::string& name);

// Files that stand in memory, by their dotted names: `gates` named in team.other is team.gates where there is one.
class TextLibrary : public Library {
 public:
  explicit TextLibrary(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}
  Result<FoundFile> find(const std::string& name, const std::string& importing) const override;
  std::string key(const std::string& path) const override;  // without `.allot`

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace allot::lang
