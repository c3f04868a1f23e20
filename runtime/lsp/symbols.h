// The names that a policy declares, and every place where each is meant.
//
// Read from tokens and the tree, not from the checked program, so that names are found in a text with mistakes too.
#pragma once

#include <string>
#include <vector>

#include "lang/format/tokens.h"
#include "lang/source.h"
#include "lang/tree.h"

namespace allot::lsp {

struct Symbol {
  enum class Kind { Parameter, State, Input, Function, Argument, Let, Variable, Record };
  Kind kind = Kind::Let;
  std::string name;
  lang::Span declared;             // the name where it is declared
  lang::Span scope;                // where it can be used
  lang::Span text;                 // the declaration, to be shown
  std::string doc;
  std::string subject;             // of a variable: "group", "batch", "rollout"; else empty
  std::vector<lang::Span> uses;    // the declaration among them, ascending
};
std::string_view name(Symbol::Kind kind);

struct Symbols {
  std::vector<Symbol> all;

  // The symbol that is meant by the name at this offset, or null.
  const Symbol* at(std::uint32_t offset) const;
  // Those that can be used here.
  std::vector<const Symbol*> visible(std::uint32_t offset) const;
};

Symbols find_symbols(const lang::Source& source, const lang::tree::File& tree,
                     const std::vector<lang::format::Token>& tokens);

}  // namespace allot::lsp
