// Imports through the lock: a name that begins with that of a dependency is a file of this package, as it was locked.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "lang/compose/library.h"
#include "runtime/package/content.h"

namespace allot::package {

// Looks for the project by the importing file: the nearest allot.toml above it. A file of an installed package may name
// its own files, the packages that its own allot.toml names, and stdlib. Every package is compared with the lock before
// its first file is read; what was found is kept, so one library sees one state of a project.
class Library : public lang::Library {
 public:
  explicit Library(std::shared_ptr<const lang::SearchPath> search) : search_(std::move(search)) {}

  Result<lang::FoundFile> find(const std::string& name, const std::string& importing) const override;
  std::string key(const std::string& path) const override { return search_->key(path); }

 private:
  struct Context {
    std::filesystem::path root;
    Result<Project> project;  // whose dependencies may be named: the project's, or the package's
    Result<Lock> lock;
    std::vector<Key> keys;
    bool installed = false;   // the importing file is one of an installed package
    std::filesystem::path folder;  // of the project or the package
  };
  std::optional<Context> context_of(const std::filesystem::path& importing) const;
  Result<const Package*> package_of(const Context& context, const std::string& name) const;

  std::shared_ptr<const lang::SearchPath> search_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Result<Package>> packages_;  // by folder
};

// That of the environment: ALLOT_PATH, the packages of the project around a file, stdlib.
std::shared_ptr<const lang::Library> environment_library();

}  // namespace allot::package
