// The open policies, and those on disk below the folders that the editor has open: what a name means in all of them.
//
// Files are read and none is written: a change of another file is an edit that the editor makes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/lsp/document.h"
#include "runtime/lsp/search.h"

namespace allot::lsp {

class Workspace {
 public:
  Workspace();

  // A folder that the editor has open. Without one, the folder of a file is looked into, and none below it.
  void add_root(const std::string& uri) { roots_.emplace_back(path_of(uri)); }

  // What an open file says counts, not what stands on disk. Both give the open policies that use the file and whose
  // diagnostics are others now.
  std::vector<const Document*> open(const std::string& uri, std::string text);
  std::vector<const Document*> close(const std::string& uri);
  const Document* find(const std::string& uri) const;

  Json hover(const Document& document, Position position) const;
  Json definition(const Document& document, Position position) const;
  Json references(const Document& document, Position position, bool with_declaration) const;
  Json rename_range(const Document& document, Position position) const;
  // The edits of all files. Refused where the declaration lies outside, where not every file could be looked at, where
  // members of a composition share an input, and where a file would have a mistake that it has not now.
  Result<Json> rename(const Document& document, Position position, const std::string& to) const;

 private:
  std::vector<const Document*> check_others(const std::string& uri);

  std::shared_ptr<OpenFiles> files_;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, std::shared_ptr<const Document>> documents_;  // the open ones, by uri
};

}  // namespace allot::lsp
