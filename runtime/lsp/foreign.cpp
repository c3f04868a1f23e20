// Names that another file declares, as they stand in a text.
#include <algorithm>
#include <functional>
#include <map>

#include "runtime/lsp/symbols.h"

namespace allot::lsp {

namespace tree = lang::tree;
using lang::Span;
using lang::format::Token;
using lang::format::TokenKind;

namespace {

std::string last_word(const std::string& dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

Span end_of(Span whole, const std::string& dotted) {
  return {whole.end - static_cast<std::uint32_t>(last_word(dotted).size()), whole.end};
}

}  // namespace

std::string file_of_alias(const tree::File& file, std::string_view alias) {
  const auto found = std::find_if(file.imports.begin(), file.imports.end(),
                                  [&](const tree::ImportDecl& each) { return each.alias.text == alias; });
  return found == file.imports.end() ? std::string() : found->file.text;
}

std::string file_of_member(const tree::File& file, std::string_view member) {
  for (const tree::Member& each : file.members) {
    if (last_word(each.name.text) != member) continue;
    const std::string imported = file_of_alias(file, each.name.text);
    return imported.empty() ? each.name.text : imported;
  }
  return {};
}

std::vector<ForeignName> find_foreign_names(const tree::File& file, const std::vector<Token>& tokens) {
  std::vector<ForeignName> found;
  for (const tree::Member& member : file.members) {
    const std::string name = file_of_member(file, last_word(member.name.text));
    for (const tree::Setting& setting : member.settings) {
      found.push_back({name, setting.name.text, end_of(setting.name.span, setting.name.text), false});
    }
  }
  if (file.members.empty() && file.imports.empty()) return found;
  std::map<std::string, std::string, std::less<>> files_of_aliases, files_of_members;
  for (const tree::ImportDecl& each : file.imports) files_of_aliases.emplace(each.alias.text, each.file.text);
  for (const tree::Member& each : file.members) {
    const auto imported = files_of_aliases.find(each.name.text);
    files_of_members.emplace(last_word(each.name.text),
                             imported == files_of_aliases.end() ? each.name.text : imported->second);
  }
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const std::string_view before = i > 0 ? tokens[i - 1].text : std::string_view();
    if (tokens[i].kind != TokenKind::Word || before == "." || before == "import") continue;
    std::size_t end = i;  // of `head.a.b`
    std::string rest;
    while (end + 2 < tokens.size() && tokens[end + 1].text == "." && tokens[end + 2].kind == TokenKind::Word) {
      end += 2;
      rest += (rest.empty() ? "" : ".") + std::string(tokens[end].text);
    }
    if (rest.empty()) continue;
    const bool called = end + 1 < tokens.size() && tokens[end + 1].text == "(";
    const auto& heads = called ? files_of_aliases : files_of_members;
    const auto head = heads.find(tokens[i].text);
    if (head != heads.end()) found.push_back({head->second, rest, tokens[end].span, called});
  }
  return found;
}

}  // namespace allot::lsp
