// Hover and completion: what a name means, and which names there are.
#include <algorithm>
#include <initializer_list>
#include <set>

#include <fmt/format.h>

#include "lang/parser.h"
#include "lang/reference/reference.h"
#include "lang/words.h"
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

std::string_view word_of(lang::Subject subject) {
  using lang::Subject;
  switch (subject) {
    case Subject::Group: return "group";
    case Subject::Batch: return "batch";
    case Subject::Rollout: return "rollout";
    case Subject::Pool: return "pool";
    case Subject::MicroBatch: return "micro_batch";
    case Subject::Token: return "token";
    case Subject::Prompt: return "prompt";
    case Subject::Anchor: return "anchor";
    case Subject::Run: return "run";
  }
  return "";
}

bool is_of(const reference::Entry& entry, std::string_view subject) {
  return subject.empty() || word_of(entry.subject) == subject;
}

// Whether it can be read at the point; what is no fact can.
bool is_known(const reference::Entry& entry, const std::optional<lang::Point>& point) {
  const lang::FactRow* const row =
      entry.kind == reference::Kind::Fact ? lang::find_fact(entry.subject, entry.name) : nullptr;
  return row == nullptr || !point || lang::known_at(*row, *point);
}

// Kinds of completion items in the protocol.
int item_kind(reference::Kind kind) {
  switch (kind) {
    case reference::Kind::Function:
    case reference::Kind::Statistic:
    case reference::Kind::Reduction:
      return 3;  // function
    case reference::Kind::Fact:
    case reference::Kind::Member:
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

Json plain_item(std::string_view label, int kind, std::string detail, std::string doc = {}) {
  Json made = {{"label", std::string(label)}, {"kind", kind}, {"detail", std::move(detail)}};
  if (!doc.empty()) made["documentation"] = markdown(std::move(doc));
  return made;
}

Json items_of(std::initializer_list<reference::Kind> kinds) {
  Json list = Json::array();
  for (const reference::Entry& entry : reference::entries()) {
    if (std::find(kinds.begin(), kinds.end(), entry.kind) != kinds.end()) list.push_back(item(entry));
  }
  return list;
}

constexpr int keyword = 14, property = 10, function = 3;  // kinds of completion items in the protocol

Json types() {
  Json list = items_of({reference::Kind::Type, reference::Kind::Unit});
  list.push_back(plain_item("beta", keyword, "type", "A Beta distribution: what is believed of a probability."));
  return list;
}

Json fates() {
  Json list = Json::array();
  for (const std::string_view fate : {"trained", "dropped", "deferred", "surplus", "cancelled"}) {
    list.push_back(plain_item(fate, keyword, "what became of a group"));
  }
  for (const std::string_view word : {"undefined", "not"}) list.push_back(plain_item(word, keyword, "word"));
  return list;
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
  return best == nullptr ? subject_in_words(dot - 1) : best->subject;
}

// While a bracket is open nothing can be read around it, and the words before have to do: `of group g`, `r in g.rollouts`.
std::string Document::subject_in_words(std::size_t name) const {
  for (std::size_t i = name; i-- > 0;) {
    if (tokens_[i].text != tokens_[name].text) continue;
    const std::string_view before = i > 0 ? tokens_[i - 1].text : std::string_view();
    if (i > 1 && tokens_[i - 2].text == "of") return std::string(before);
    if (before == "given" && i + 2 < name) return std::string(tokens_[i + 2].text);
    if ((before != "for" && before != "each") || i + 4 >= tokens_.size() || tokens_[i + 1].text != "in") continue;
    const std::string_view walked = tokens_[i + 4].text;
    if (walked == "rollouts") return "rollout";
    if (walked == "groups" || walked == "ended" || walked == "stored") return "group";
    if (walked == "prompts" || walked == "known") return "prompt";
  }
  return {};
}

// Of the handler that the offset is in; nothing elsewhere.
std::optional<lang::Point> Document::point_at(std::uint32_t offset) const {
  std::optional<lang::Point> point;
  for (std::size_t i = 0; i + 1 < tokens_.size() && tokens_[i].span.begin < offset; ++i) {
    const bool first = i == 0 || source_->place(tokens_[i].span.begin).column == 1;
    if (!first || !(lang::is_item_word(tokens_[i].text) || tokens_[i].text == "test")) continue;
    point = std::nullopt;
    if (tokens_[i].text != "on") continue;
    const bool every = tokens_[i + 1].text == "every" && i + 2 < tokens_.size();
    const std::string_view word = tokens_[every ? i + 2 : i + 1].text;
    for (int each = 0; each <= static_cast<int>(lang::Point::Eval); ++each) {
      if (lang::name(static_cast<lang::Point>(each)) == word) point = static_cast<lang::Point>(each);
    }
  }
  return point;
}

Json Document::hover(Position position) const {
  std::size_t index = 0;
  const Token* const token = token_at(offset_of(*source_, position), &index);
  if (token == nullptr || token->kind != TokenKind::Word) return {};
  std::string text;
  const bool after_dot = index > 0 && tokens_[index - 1].text == ".";
  if (const lang::tree::FunctionDecl* const imported = imported_at(position)) {
    const Span whole{imported->name.span.begin, (*program_->tree)[imported->body].span.end};
    text = fmt::format("{}\n*function of {}*", code("fn " + std::string(program_->source->text(whole))),
                       program_->source->name(whole.begin));
  } else if (const Symbol* symbol = after_dot ? nullptr : symbols_.at(token->span.begin)) {
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

Json Document::about_name(const Symbol& symbol) const {
  return {{"contents", markdown(about(symbol))}};
}

// What another file has for this one: functions, or what a member of a composition has.
Json Document::symbols_of_file(const std::string& name, bool functions) const {
  Json list = Json::array();
  const auto found = library_->find(name, path_);
  if (!found) return list;
  lang::Diagnostics ignored;
  const auto tree = lang::parse(lang::Source(found->path, found->text), ignored);
  if (!tree) return list;
  if (functions) {
    for (const auto& each : tree->functions) {
      list.push_back(plain_item(each.name.text, function, "function of " + name));
    }
    return list;
  }
  for (const auto& each : tree->params) {
    list.push_back(plain_item(each.name.text, property, "parameter of " + name, each.doc));
  }
  for (const auto& each : tree->states) list.push_back(plain_item(each.name.text, property, "state of " + name));
  return list;
}

// Where the words before leave few that can follow, those; else nothing.
std::optional<Json> Document::narrow_completion(std::size_t before) const {
  const auto back = [&](std::size_t count) {
    return count <= before ? tokens_[before - count].text : std::string_view();
  };
  const std::string_view last = back(0);
  if (last == "." && ((back(1) == "budget" && back(2) == ".") || (back(3) == "budget" && back(2) == "."))) {
    Json list = Json::array();
    for (const std::string_view each : {"left", "spent", "total"}) {
      list.push_back(plain_item(each, property, "of the budget"));
    }
    if (back(1) != "budget" || !tree_ || tree_->budgets.size() < 2) return list;
    for (const std::string_view each : {"rollouts", "tokens", "calls", "seconds"}) {
      list.push_back(plain_item(each, property, "the budget in this unit"));
    }
    return list;
  }
  if (last == "." && tree_ && back(2) != "." && subject_before(before).empty()) {
    const std::string imported = file_of_alias(*tree_, back(1));
    const std::string member = file_of_member(*tree_, back(1));
    if (imported.empty() && member.empty()) return std::nullopt;
    Json list = imported.empty() ? Json::array() : symbols_of_file(imported, true);
    if (member.empty()) return list;
    for (Json& each : symbols_of_file(member, false)) list.push_back(std::move(each));
    return list;
  }
  if (last == "on" && source_->place(tokens_[before].span.begin).column == 1) {
    return items_of({reference::Kind::Point});
  }
  if (last == "is") {
    for (std::size_t i = before; i-- > 0 && before - i < 8 && tokens_[i].text != "{" && tokens_[i].text != "}";) {
      if (tokens_[i].text != "expect") continue;
      return back(1) == ")" ? items_of({reference::Kind::Action}) : fates();
    }
  }
  return declares_type(before) ? std::optional<Json>(types()) : std::nullopt;
}

// `param a: `, `fn f(x: `, `-> `: a type follows.
bool Document::declares_type(std::size_t before) const {
  if (tokens_[before].text != ":" && tokens_[before].text != "->") return false;
  for (std::size_t i = before + 1; i-- > 0;) {
    const std::string_view text = tokens_[i].text;
    if (text == "=" || text == "{") return false;  // a label of its value
    if (i > 0 && tokens_[i].lines_before == 0) continue;
    return text == "param" || text == "state" || text == "input" || text == "fn";
  }
  return false;
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
  if (known) {
    if (auto few = narrow_completion(before)) return *std::move(few);
  }
  if (known && tokens_[before].text == ".") {
    const std::string subject = subject_before(before);
    const std::optional<lang::Point> point = point_at(offset);
    std::set<std::string> told;
    for (const reference::Entry& entry : reference::entries()) {
      const bool fits = reference::stands_after_dot(entry) && is_of(entry, subject) && is_known(entry, point);
      if (fits && told.insert(entry.name).second) list.push_back(item(entry));
    }
    return list;
  }
  const bool after_number = known && tokens_[before].kind == TokenKind::Number;
  for (const reference::Entry& entry : reference::entries()) {
    if (reference::stands_after_dot(entry) || entry.kind == reference::Kind::Operator) continue;
    if (!after_number || entry.kind == reference::Kind::Unit) list.push_back(item(entry));
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
