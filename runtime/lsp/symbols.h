// The names that a policy declares, and every place where each is meant.
//
// Read from tokens and the tree, not from the checked program, so that names are found in a text with mistakes too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  // Where a handler and a test name the group whose lets the test reads: it finds them by that name.
  std::vector<std::uint32_t> read_by_name;

  // The symbol that is meant by the name at this offset, or null.
  const Symbol* at(std::uint32_t offset) const;
  // The argument of a function by its name, or null.
  const Symbol* argument(const Symbol& function, std::string_view name) const;
  // Those that can be used here.
  std::vector<const Symbol*> visible(std::uint32_t offset) const;
};

// A name that another file declares: `gates.worth(…)`, `with main.limit`, `main(limit: 0.4)`, `x` of
// `gates.worth(x: 0.4)`.
struct ForeignName {
  std::string file;   // as it is imported: "team.gates"
  std::string name;   // in that file; with dots where the file is a composition: "inner.limit"
  lang::Span span;    // of its last word
  bool called = false;  // a function; else a parameter or state of a member
  std::string argument;  // of that function, where the argument is meant; else empty

  // The word that stands there, as the other file declares it.
  std::string_view word() const;
};
std::vector<ForeignName> find_foreign_names(const lang::tree::File& tree,
                                            const std::vector<lang::format::Token>& tokens);
// The file that a member, or the alias of an import, stands for: "team.gates", or empty.
std::string file_of_member(const lang::tree::File& tree, std::string_view member);
std::vector<std::string> files_of_members(const lang::tree::File& tree);
std::string file_of_alias(const lang::tree::File& tree, std::string_view alias);

// `well_formed`: the text has no mistake of syntax, so the tree has all that it names.
Symbols find_symbols(const lang::Source& source, const lang::tree::File& tree,
                     const std::vector<lang::format::Token>& tokens, bool well_formed);

}  // namespace allot::lsp
