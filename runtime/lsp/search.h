// One question about several files: each is read once, and looked at as it stands in the editor where it is open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "lang/compose/library.h"
#include "runtime/lsp/document.h"

namespace allot::lsp {

// The library below, but with these texts, by key. One is shared by all open policies, so a text is kept once.
class OpenFiles : public lang::Library {
 public:
  explicit OpenFiles(std::shared_ptr<const lang::Library> below) : below_(std::move(below)) {}

  void put(const std::string& key, std::string text) { texts_.insert_or_assign(key, std::move(text)); }
  void forget(const std::string& key) { texts_.erase(key); }
  // A library keeps what it saw of a project; another one looks again.
  void look_again(std::shared_ptr<const lang::Library> below) { below_ = std::move(below); }

  Result<lang::FoundFile> find(const std::string& name, const std::string& importing) const override;
  std::string key(const std::string& path) const override { return below_->key(path); }

 private:
  std::shared_ptr<const lang::Library> below_;
  std::map<std::string, std::string> texts_;
};

// A name where it is declared. The symbol lies in the document.
struct Meant {
  std::shared_ptr<const Document> document;
  const Symbol* symbol = nullptr;
};

struct Use {
  std::shared_ptr<const Document> document;
  lang::Span span;
};

class Search {
 public:
  Search(std::shared_ptr<const lang::Library> library, std::vector<std::filesystem::path> roots,
         const std::map<std::string, std::shared_ptr<const Document>>& open);

  std::optional<Meant> meant_at(const Document& document, Position position);
  // In its own file, then in the others.
  std::vector<Use> uses_of(const Meant& meant);
  // Of the open files, and of those below the roots (without one, in the file's folder) that name other files: all that
  // may use this name. Its own is among them where it is one of these.
  std::vector<std::shared_ptr<const Document>> files_with(const Meant& meant);
  // Of the same files the compositions of which this one is a member, or a member of a member.
  std::vector<std::shared_ptr<const Document>> compositions_of(const Document& member);
  // A file of the composition, but for the one that declares it, which has an input of that name too; or null.
  std::shared_ptr<const Document> shared_by(const std::shared_ptr<const Document>& composition, const Meant& input);
  bool complete() const { return complete_; }  // else there was too much to look at all

 private:
  struct OnDisk {
    std::filesystem::path path;
    std::string key;
  };
  struct Named {
    std::shared_ptr<const Document> document;  // null where there is no such file
    std::string path;                          // as it was found
  };

  std::optional<Meant> resolve(const Document& document, const ForeignName& foreign);
  const Named& file_named(const std::string& name, const std::string& importing);
  std::shared_ptr<const Document> document_of(const std::string& key, const std::string& text);
  void collect(const Document& around);
  void collect(const std::filesystem::path& folder, bool below);
  // By which others may name the file: the last words of its paths, where these can be names.
  std::vector<std::string> words_for(const Document& document);
  std::vector<std::shared_ptr<const Document>> files_that(const Document& own,
                                                          const std::function<bool(std::string_view)>& may_use);

  std::shared_ptr<const lang::Library> library_;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, std::shared_ptr<const Document>> known_;  // by key
  std::map<std::pair<std::string, std::string>, Named> named_;    // by the importing file, and the name
  std::vector<OnDisk> files_;
  std::uintmax_t bytes_ = 0;  // of all of them
  bool collected_ = false;
  bool complete_ = true;
};

// Names that other files can use; an argument's among them, which a call may name.
bool is_exported(const Symbol& symbol);

}  // namespace allot::lsp
