// Hover and completion: what a name means, and which names there are.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lang/reference/reference.h"
#include "runtime/lsp/document.h"

namespace allot::lsp {

using lang::Span;
using lang::format::Token;
using lang::format::TokenKind;
namespace reference = lang::reference;

namespace {

std::string code(std::string_view text) {
  return fmt::format("```allot\n{}\n```", text);
}

std::string about(const reference::Entry& entry) {
  return fmt::format("{}\n{}\n\n*{}*", code(entry.signature), entry.doc, reference::name(entry.kind));
}

bool is_of(const reference::Entry& entry, std::string_view subject) {
  using lang::Subject;
  if (subject.empty()) return true;
  switch (entry.subject) {
    case Subject::Group:
      return subject == "group";
    case Subject::Batch:
      return subject == "batch";
    case Subject::Rollout:
      return subject == "rollout";
    default:
      return subject != "group" && subject != "batch" && subject != "rollout";
  }
}

// Kinds of completion items in the protocol.
int item_kind(reference::Kind kind) {
  switch (kind) {
    case reference::Kind::Function:
    case reference::Kind::Statistic:
    case reference::Kind::Reduction:
      return 3;  // function
    case reference::Kind::Fact:
      return 10;  // property
    case reference::Kind::Unit:
      return 11;  // unit
    default:
      return 14;  // keyword
  }
}

Json markdown(std::string text) {
  return {{"kind", "markdown"}, {"value", std::move(text)}};
}

Json item(const reference::Entry& entry) {
  return {{"label", entry.name},
          {"kind", item_kind(entry.kind)},
          {"detail", entry.signature},
          {"documentation", markdown(entry.doc)}};
}

}  // namespace

// The type of a `let`, where the policy checks.
std::optional<std::string> Document::let_type(const Symbol& symbol) const {
  if (!program_ || symbol.kind != Symbol::Kind::Let) return std::nullopt;
  for (const lang::Handler& handler : program_->handlers) {
    if (handler.span.begin > symbol.declared.begin || symbol.declared.end > handler.span.end) continue;
    for (const lang::Let& let : handler.lets) {
      if (let.name == symbol.name && let.value >= 0) {
        return lang::to_text(handler.nodes[static_cast<std::size_t>(let.value)].type);
      }
    }
  }
  return std::nullopt;
}

std::string Document::about(const Symbol& symbol) const {
  std::string text = code(source_->text(symbol.text));
  if (!symbol.doc.empty()) text += "\n" + symbol.doc + "\n";
  const auto type = let_type(symbol);
  text += fmt::format("\n*{}{}*", name(symbol.kind), type ? " of type " + *type : "");
  if (symbol.kind == Symbol::Kind::Parameter) text += fmt::format("; a run sets it with `--set {}=VALUE`", symbol.name);
  return text;
}

// What stands before the dot: "group" for `g.` where g is one; empty where that cannot be said.
std::string Document::subject_before(std::size_t dot) const {
  if (dot == 0 || dot >= tokens_.size()) return {};
  const Token& owner = tokens_[dot - 1];
  const std::vector<const Symbol*> here = symbols_.visible(owner.span.begin);
  const Symbol* best = nullptr;
  for (const Symbol* symbol : here) {
    if (symbol->name != owner.text || symbol->subject.empty()) continue;
    if (best == nullptr || symbol->scope.end - symbol->scope.begin < best->scope.end - best->scope.begin) best = symbol;
  }
  return best == nullptr ? std::string() : best->subject;
}

Json Document::hover(Position position) const {
  std::size_t index = 0;
  const Token* const token = token_at(offset_of(*source_, position), &index);
  if (token == nullptr || token->kind != TokenKind::Word) return {};
  std::string text;
  const bool after_dot = index > 0 && tokens_[index - 1].text == ".";
  if (const Symbol* symbol = after_dot ? nullptr : symbols_.at(token->span.begin)) {
    text = about(*symbol);
  } else {
    const std::string subject = after_dot ? subject_before(index - 1) : std::string();
    for (const reference::Entry* entry : reference::find(token->text, after_dot)) {
      if (!is_of(*entry, subject)) continue;
      text += (text.empty() ? "" : "\n\n---\n\n") + lsp::about(*entry);
    }
  }
  if (text.empty()) return {};
  return {{"contents", markdown(std::move(text))}, {"range", range(token->span)}};
}

Json Document::completion(Position position) const {
  const std::uint32_t offset = offset_of(*source_, position);
  // The last token that ends before the word that is being typed.
  std::size_t before = tokens_.size();
  bool in_text = false;
  for (std::size_t i = 0; i < tokens_.size() && tokens_[i].span.begin < offset; ++i) {
    const bool typed = tokens_[i].kind == TokenKind::Word && tokens_[i].span.end >= offset;
    if (tokens_[i].span.end <= offset && !typed) before = i;
    in_text = tokens_[i].kind == TokenKind::Comment && offset <= tokens_[i].span.end;
  }
  Json list = Json::array();
  if (in_text) return list;
  const bool known = before < tokens_.size();
  if (known && tokens_[before].text == ".") {
    const std::string subject = subject_before(before);
    std::set<std::string> told;
    for (const reference::Entry& entry : reference::entries()) {
      const bool dotted = entry.kind == reference::Kind::Fact && entry.subject != lang::Subject::Run;
      if (dotted && is_of(entry, subject) && told.insert(entry.name).second) list.push_back(item(entry));
    }
    return list;
  }
  const bool after_number = known && tokens_[before].kind == TokenKind::Number;
  for (const reference::Entry& entry : reference::entries()) {
    const bool dotted = entry.kind == reference::Kind::Fact && entry.subject != lang::Subject::Run;
    if (!dotted && (!after_number || entry.kind == reference::Kind::Unit)) list.push_back(item(entry));
  }
  if (after_number) return list;
  std::set<std::string> told;
  for (const Symbol* symbol : symbols_.visible(offset)) {
    if (!told.insert(symbol->name).second) continue;
    list.push_back({{"label", symbol->name},
                    {"kind", symbol->kind == Symbol::Kind::Function ? 3 : 6},
                    {"detail", std::string(name(symbol->kind))},
                    {"documentation", markdown(about(*symbol))}});
  }
  return list;
}

}  // namespace allot::lsp
