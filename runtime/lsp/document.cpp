#include "runtime/lsp/document.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/builtins.h"
#include "lang/facts.h"
#include "lang/format/format.h"
#include "lang/parser.h"
#include "lang/words.h"

namespace allot::lsp {

using lang::Span;
using lang::format::Token;
using lang::format::TokenKind;

namespace {

constexpr std::string_view scheme = "file://";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string path_of(const std::string& uri) {
  if (!uri.starts_with(scheme)) return uri;
  std::string path;
  for (std::size_t i = scheme.size(); i < uri.size(); ++i) {
    const bool two_more = i + 2 < uri.size();
    const bool escaped = uri[i] == '%' && two_more && hex_digit(uri[i + 1]) >= 0 && hex_digit(uri[i + 2]) >= 0;
    if (!escaped) {
      path += uri[i];
      continue;
    }
    path += static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2]));
    i += 2;
  }
  return path;
}

std::string uri_of(const std::string& path) {
  std::string uri(scheme);
  for (const char c : path) {
    const bool plain = lang::is_name_char(c) || c == '/' || c == '.' || c == '-' || c == '~';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

Document::Document(std::string uri, std::string text, std::shared_ptr<const lang::Library> library, bool open)
    : uri_(std::move(uri)),
      path_(path_of(uri_)),
      library_(std::move(library)),
      open_(open),
      source_(std::make_shared<const lang::Source>(uri_, std::move(text))) {
  auto whole = std::make_shared<const lang::Source>(path_, std::string(source_->text()));
  program_ = lang::check(whole, diagnostics_, library_);
  diagnostics_.sort();
  for (std::size_t i = 1; i < whole->file_count(); ++i) used_.push_back(whole->name(whole->file(i).begin));
  lang::Diagnostics ignored;
  tree_ = lang::parse(*source_, ignored);
  if (!tree_) return;  // too large, or no text at all: there is nothing to look at
  tokens_ = lang::format::tokens(*source_, true);
  symbols_ = find_symbols(*source_, *tree_, tokens_, !ignored.has_errors());
  foreign_ = find_foreign_names(*tree_, tokens_);
}

// ---- places

Json Document::range(Span span) const {
  const auto json = [](Position position) { return Json{{"line", position.line}, {"character", position.character}}; };
  return {{"start", json(cursor_.at(*source_, span.begin))}, {"end", json(cursor_.at(*source_, span.end))}};
}

Json Document::range_at(Position position) const {
  const Token* const token = token_at(offset_of(*source_, position));
  return token == nullptr ? Json() : range(token->span);
}

Json Document::location(Span span) const {
  return {{"uri", uri_}, {"range", range(span)}};
}

// The innermost token there: those of a hole come after the string around them. At the end of a word it is still meant.
const Token* Document::token_at(std::uint32_t offset, std::size_t* index) const {
  const Token* found = nullptr;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    const bool inside = token.span.begin <= offset && offset < token.span.end;
    const bool at_end = offset == token.span.end && token.kind == TokenKind::Word;
    if (!inside && !(at_end && found == nullptr)) continue;
    found = &token;
    if (index != nullptr) *index = i;
  }
  return found;
}

const Symbol* Document::symbol_at(Position position) const {
  const Token* const token = token_at(offset_of(*source_, position));
  return token == nullptr ? nullptr : symbols_.at(token->span.begin);
}

const ForeignName* Document::foreign_at(Position position) const {
  const std::uint32_t offset = offset_of(*source_, position);
  const auto found = std::find_if(foreign_.begin(), foreign_.end(), [&](const ForeignName& each) {
    return each.span.begin <= offset && offset <= each.span.end;
  });
  return found == foreign_.end() ? nullptr : &*found;
}

// The function of another file that is meant by the last word of `gates.soft`, where the policy checks.
const lang::tree::FunctionDecl* Document::imported_at(Position position) const {
  std::size_t index = 0;
  const Token* const token = token_at(offset_of(*source_, position), &index);
  if (!program_ || token == nullptr || token->kind != TokenKind::Word) return nullptr;
  std::string whole(token->text);
  for (; index > 1 && tokens_[index - 1].text == "."; index -= 2) whole = std::string(tokens_[index - 2].text) + "." + whole;
  const auto& functions = program_->tree->functions;
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const lang::tree::FunctionDecl& each) {
    return each.imported && each.name.text == whole;
  });
  return found == functions.end() ? nullptr : &*found;
}

// ---- diagnostics

Json Document::diagnostics() const {
  Json list = Json::array();
  const auto here = [&](Span span) { return span.begin <= source_->text().size(); };  // else of a file that it uses
  for (const lang::Diagnostic& each : diagnostics_.all()) {
    if (!here(each.span)) continue;
    std::string message = each.message;
    if (!each.label.empty()) message += "\n" + each.label;
    if (!each.help.empty()) message += "\nhelp: " + each.help;
    Json one = {{"range", range(each.span)},
                {"severity", each.severity == lang::Severity::Error ? 1 : 2},
                {"code", each.code},
                {"source", "allot"},
                {"message", message}};
    for (const lang::Context& context : each.contexts) {
      if (!here(context.span)) continue;
      one["relatedInformation"].push_back({{"location", location(context.span)}, {"message", context.words}});
    }
    list.push_back(std::move(one));
  }
  return list;
}

// ---- names

Json Document::highlights(Position position) const {
  Json list = Json::array();
  const Symbol* const symbol = symbol_at(position);
  if (symbol == nullptr) return list;
  for (const Span use : symbol->uses) list.push_back({{"range", range(use)}});
  return list;
}

Result<void> Document::may_become(const Symbol& symbol, const std::string& to) const {
  const bool is_name = !to.empty() && lang::is_name_start(to.front()) &&
                       std::all_of(to.begin(), to.end(), lang::is_name_char) && !lang::is_reserved(to);
  if (!is_name) return Error{fmt::format("'{}' cannot be a name", to), ""};
  for (const Symbol& other : symbols_.all) {
    const bool meet = other.scope.begin < symbol.scope.end && symbol.scope.begin < other.scope.end;
    if (&other != &symbol && other.name == to && meet) {
      return Error{fmt::format("'{}' is a {} already", to, name(other.kind)), ""};
    }
  }
  if (symbol.kind == Symbol::Kind::Function && lang::find_builtin(to) >= 0) {
    return Error{fmt::format("'{}' is a function of the language", to), ""};
  }
  const bool seen_by_hit = symbol.kind == Symbol::Kind::Parameter || symbol.kind == Symbol::Kind::State ||
                           symbol.kind == Symbol::Kind::Input;
  if (seen_by_hit && tree_ && tree_->hit != lang::tree::none && lang::find_fact(lang::Subject::Rollout, to) != nullptr) {
    return Error{fmt::format("`hit when …` reads '{}' of the rollout, which a {} of that name would hide", to,
                             name(symbol.kind)),
                 ""};
  }
  const auto& by_name = symbols_.read_by_name;
  if (std::find(by_name.begin(), by_name.end(), symbol.declared.begin) != by_name.end()) {
    return Error{fmt::format("a test reads the `let`s of the handler whose group is '{}' too; rename both by hand",
                             symbol.name),
                 ""};
  }
  return {};
}

// ---- the whole text

Json Document::formatting() const {
  lang::Diagnostics ignored;
  const auto formatted = lang::format::format(*source_, ignored);
  if (!formatted) return {};
  if (*formatted == source_->text()) return Json::array();
  const Span whole{0, static_cast<std::uint32_t>(source_->text().size())};
  return Json::array({{{"range", range(whole)}, {"newText", *formatted}}});
}

Json Document::outline() const {
  Json list = Json::array();
  if (!tree_) return list;
  enum { Function = 12, Variable = 13, Event = 24, Method = 6, Field = 8 };  // kinds of the protocol
  const auto add = [&](const std::string& name, int kind, Span span, Span selected) {
    list.push_back({{"name", name}, {"kind", kind}, {"range", range(span)}, {"selectionRange", range(selected)}});
  };
  for (const auto& param : tree_->params) add(param.name.text, Variable, param.name.span, param.name.span);
  for (const auto& state : tree_->states) add(state.name.text, Field, state.name.span, state.name.span);
  for (const auto& function : tree_->functions)
    add(function.name.text, Function, function.name.span, function.name.span);
  for (const auto& handler : tree_->handlers) {
    add("on " + std::string(source_->text(handler.point_span)), Event, handler.span, handler.point_span);
  }
  for (const auto& test : tree_->tests) {
    if (!test.title.empty()) add("test: " + test.title, Method, test.span, {test.span.begin, test.span.begin + 4});
  }
  for (const auto& scenario : tree_->scenarios) {
    if (scenario.title.empty()) continue;
    add("scenario: " + scenario.title, Method, scenario.span, {scenario.span.begin, scenario.span.begin + 8});
  }
  return list;
}

}  // namespace allot::lsp
