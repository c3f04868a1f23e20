// One open policy: its text as it is typed, and what can be said about it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/result.h"
#include "lang/diagnostics.h"
#include "lang/format/tokens.h"
#include "lang/program.h"
#include "runtime/lsp/positions.h"
#include "runtime/lsp/symbols.h"

namespace allot::lsp {

using Json = nlohmann::json;

class Document {
 public:
  Document(std::string uri, std::string text);

  const std::string& uri() const { return uri_; }

  // All answers are in the protocol's own form; null where there is nothing to say.
  Json diagnostics() const;
  Json hover(Position position) const;
  Json completion(Position position) const;
  Json definition(Position position) const;
  Json references(Position position, bool with_declaration) const;
  Json highlights(Position position) const;
  Json rename_range(Position position) const;
  Result<Json> rename(Position position, const std::string& to) const;
  Json formatting() const;
  Json outline() const;

 private:
  const lang::format::Token* token_at(std::uint32_t offset, std::size_t* index = nullptr) const;
  Json range(lang::Span span) const;
  Json location(lang::Span span) const;
  std::string about(const Symbol& symbol) const;
  std::optional<std::string> let_type(const Symbol& symbol) const;
  std::string subject_before(std::size_t dot) const;
  std::string subject_in_words(std::size_t name) const;
  std::optional<lang::Point> point_at(std::uint32_t offset) const;
  const Symbol* symbol_at(Position position) const;
  const lang::tree::FunctionDecl* imported_at(Position position) const;

  std::string uri_;
  std::shared_ptr<const lang::Source> source_;
  mutable PositionCursor cursor_;  // remembers where it counted to; what it says depends on the offset alone
  lang::Diagnostics diagnostics_;
  std::optional<lang::Program> program_;
  std::optional<lang::tree::File> tree_;
  std::vector<lang::format::Token> tokens_;
  Symbols symbols_;
};

}  // namespace allot::lsp
