// One policy: its text as it is typed, and what can be said about it. A Workspace tells what lies in several files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/result.h"
#include "lang/compose/library.h"
#include "lang/diagnostics.h"
#include "lang/format/tokens.h"
#include "lang/program.h"
#include "runtime/lsp/positions.h"
#include "runtime/lsp/symbols.h"

namespace allot::lsp {

using Json = nlohmann::json;

class Document {
 public:
  // The files that it names come from the library. `open` in an editor, or read from disk.
  Document(std::string uri, std::string text, std::shared_ptr<const lang::Library> library, bool open = false);

  const std::string& uri() const { return uri_; }
  const std::string& path() const { return path_; }
  bool is_open() const { return open_; }
  std::string_view text() const { return source_->text(); }
  const Symbols& symbols() const { return symbols_; }
  const std::vector<ForeignName>& foreign_names() const { return foreign_; }
  const lang::Diagnostics& problems() const { return diagnostics_; }
  // Paths of the other files that it was checked with.
  const std::vector<std::string>& used_files() const { return used_; }
  // The file that a member stands for, as it is imported; empty where there is no such member.
  std::string member_file(std::string_view member) const { return tree_ ? file_of_member(*tree_, member) : ""; }

  // The files of all members, in order, where it is a composition.
  std::vector<std::string> member_files() const {
    return tree_ ? files_of_members(*tree_) : std::vector<std::string>();
  }

  // All answers are in the protocol's own form; null where there is nothing to say.
  Json diagnostics() const;
  Json hover(Position position) const;
  Json completion(Position position) const;
  Json highlights(Position position) const;
  Json formatting() const;
  Json outline() const;

  // Its own name that is meant there, or null; and one of another file.
  const Symbol* symbol_at(Position position) const;
  const ForeignName* foreign_at(Position position) const;
  // Whether the name may become that one, as far as this file's names tell; the error says why not.
  Result<void> may_become(const Symbol& symbol, const std::string& to) const;
  Json about_name(const Symbol& symbol) const;  // as `hover`
  Json range_at(Position position) const;       // of the word there
  Json range(lang::Span span) const;
  Json location(lang::Span span) const;

 private:
  const lang::format::Token* token_at(std::uint32_t offset, std::size_t* index = nullptr) const;
  std::string about(const Symbol& symbol) const;
  std::optional<std::string> let_type(const Symbol& symbol) const;
  std::string subject_before(std::size_t dot) const;
  std::string subject_in_words(std::size_t name) const;
  std::optional<lang::Point> point_at(std::uint32_t offset) const;
  const lang::tree::FunctionDecl* imported_at(Position position) const;
  Json symbols_of_file(const std::string& name, bool functions) const;
  std::optional<Json> narrow_completion(std::size_t before) const;
  bool declares_type(std::size_t before) const;

  std::string uri_;
  std::string path_;
  std::shared_ptr<const lang::Library> library_;
  bool open_ = false;
  std::vector<std::string> used_;
  std::shared_ptr<const lang::Source> source_;
  mutable PositionCursor cursor_;  // remembers where it counted to; what it says depends on the offset alone
  lang::Diagnostics diagnostics_;
  std::optional<lang::Program> program_;
  std::optional<lang::tree::File> tree_;
  std::vector<lang::format::Token> tokens_;
  Symbols symbols_;
  std::vector<ForeignName> foreign_;
};

// "file:///a%20b" and "/a b"; what is no such address is its own path.
std::string path_of(const std::string& uri);
std::string uri_of(const std::string& path);

}  // namespace allot::lsp
