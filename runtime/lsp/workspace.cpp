#include "runtime/lsp/workspace.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/package/library.h"

namespace allot::lsp {

namespace {

bool is_error(const lang::Diagnostic& each) {
  return each.severity == lang::Severity::Error;
}
// A warning, but after a rename it may tell that a name means something else now.
bool hides_a_name(const lang::Diagnostic& each) {
  return each.code == "W0104";
}

using Kind = bool (*)(const lang::Diagnostic&);

std::vector<lang::Diagnostic> those_of(const Document& document, Kind kind) {
  std::vector<lang::Diagnostic> found = document.problems().all();
  std::erase_if(found, [&](const lang::Diagnostic& each) { return !kind(each); });
  return found;
}

// A mistake of the text after that the text before has not.
std::optional<std::string> new_mistake(const Document& before, const Document& after, Kind kind) {
  const std::vector<lang::Diagnostic> old = those_of(before, kind), now = those_of(after, kind);
  if (now.size() <= old.size()) return std::nullopt;
  for (const lang::Diagnostic& each : now) {
    const bool was = std::any_of(old.begin(), old.end(), [&](const lang::Diagnostic& other) {
      return other.code == each.code && other.message == each.message;
    });
    if (!was) return each.message;
  }
  return now.back().message;
}

Error too_much(const std::string& name) {
  return {fmt::format("other files may use '{}', and the workspace has too many to look at, or too large ones; open a "
                      "smaller folder", name), ""};
}

using Files = std::vector<std::shared_ptr<const Document>>;

// The host has one input of a name for all members of a composition.
Result<Files> files_of_input(Search& search, const Meant& input) {
  Files files = search.compositions_of(*input.document);
  files.push_back(input.document);  // which may be a composition with an input of its own
  for (const auto& file : files) {
    const auto other = search.shared_by(file, input);
    if (other == nullptr) continue;
    return Error{fmt::format("the members of {} share inputs by their names, and '{}' is one of {} too; rename it in each "
                             "of them by hand", file->path(), input.symbol->name, other->path()), ""};
  }
  if (!search.complete()) return too_much(input.symbol->name);
  return files;
}

// The files that may have a mistake once the name is another.
Result<Files> files_to_check(Search& search, const Meant& meant) {
  if (meant.symbol->kind == Symbol::Kind::Input) return files_of_input(search, meant);
  if (!is_exported(*meant.symbol)) return Files{meant.document};
  Files files = search.files_with(meant);
  if (!search.complete()) return too_much(meant.symbol->name);
  if (std::find(files.begin(), files.end(), meant.document) == files.end()) {
    return Error{fmt::format("'{}' is declared in {}, which is not part of the workspace", meant.symbol->name,
                             meant.document->path()), ""};
  }
  return files;
}

std::string with_names(const Document& document, std::vector<lang::Span> spans, const std::string& to) {
  std::string text(document.text());
  std::sort(spans.begin(), spans.end(), [](lang::Span a, lang::Span b) { return a.begin > b.begin; });
  for (const lang::Span span : spans) text.replace(span.begin, span.end - span.begin, to);
  return text;
}

}  // namespace

Workspace::Workspace() : files_(std::make_shared<OpenFiles>(package::environment_library())) {}

const Document* Workspace::find(const std::string& uri) const {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : found->second.get();
}

// ---- opening and closing

std::vector<const Document*> Workspace::open(const std::string& uri, std::string text) {
  files_->look_again(package::environment_library());
  files_->put(files_->key(path_of(uri)), text);
  documents_.insert_or_assign(uri, std::make_shared<const Document>(uri, std::move(text), files_, true));
  return check_others(uri);
}

std::vector<const Document*> Workspace::close(const std::string& uri) {
  if (documents_.erase(uri) == 0) return {};
  files_->forget(files_->key(path_of(uri)));
  return check_others(uri);
}

std::vector<const Document*> Workspace::check_others(const std::string& uri) {
  std::vector<const Document*> changed;
  const std::string key = files_->key(path_of(uri));
  for (auto& [other, document] : documents_) {
    const std::vector<std::string>& used = document->used_files();
    const bool uses = std::any_of(used.begin(), used.end(), [&](const auto& each) { return files_->key(each) == key; });
    if (other == uri || !uses) continue;
    auto again = std::make_shared<const Document>(other, std::string(document->text()), files_, true);
    const bool same = again->diagnostics() == document->diagnostics();
    document = std::move(again);
    if (!same) changed.push_back(document.get());
  }
  return changed;
}

// ---- names

Json Workspace::hover(const Document& document, Position position) const {
  if (Json told = document.hover(position); !told.is_null()) return told;
  if (document.foreign_at(position) == nullptr) return {};
  const auto meant = Search(files_, roots_, documents_).meant_at(document, position);
  return meant ? meant->document->about_name(*meant->symbol) : Json();
}

Json Workspace::definition(const Document& document, Position position) const {
  const auto meant = Search(files_, roots_, documents_).meant_at(document, position);
  return meant ? meant->document->location(meant->symbol->declared) : Json();
}

Json Workspace::references(const Document& document, Position position, bool with_declaration) const {
  Json list = Json::array();
  Search search(files_, roots_, documents_);
  const auto meant = search.meant_at(document, position);
  if (!meant) return list;
  for (const Use& use : search.uses_of(*meant)) {
    const bool declared = use.document == meant->document && use.span.begin == meant->symbol->declared.begin;
    if (with_declaration || !declared) list.push_back(use.document->location(use.span));
  }
  return list;
}

Json Workspace::rename_range(const Document& document, Position position) const {
  const auto meant = Search(files_, roots_, documents_).meant_at(document, position);
  if (!meant) return {};
  if (const ForeignName* const foreign = document.foreign_at(position)) {
    return {{"range", document.range(foreign->span)}, {"placeholder", meant->symbol->name}};
  }
  return {{"range", document.range_at(position)}, {"placeholder", meant->symbol->name}};
}

Result<Json> Workspace::rename(const Document& document, Position position, const std::string& to) const {
  Search search(files_, roots_, documents_);
  const auto meant = search.meant_at(document, position);
  if (!meant) return Error{"there is no name of the policy's own here", ""};
  if (auto may = meant->document->may_become(*meant->symbol, to); !may) return may.error();

  const auto files = files_to_check(search, *meant);
  if (!files) return files.error();
  std::map<std::shared_ptr<const Document>, std::vector<lang::Span>> places;
  for (const Use& use : search.uses_of(*meant)) places[use.document].push_back(use.span);

  // Whether all still check is asked before anything is changed.
  const auto renamed = std::make_shared<OpenFiles>(files_);
  for (const auto& [file, spans] : places) renamed->put(files_->key(file->path()), with_names(*file, spans, to));
  for (const auto& file : *files) {
    const auto changed = places.find(file);
    const std::string text =
        changed == places.end() ? std::string(file->text()) : with_names(*file, changed->second, to);
    const Document after(file->uri(), text, renamed);
    for (const Kind kind : {is_error, hides_a_name}) {
      if (const auto mistake = new_mistake(*file, after, kind)) {
        return Error{fmt::format("with '{}' {} would have a mistake: {}", to, file->path(), *mistake), ""};
      }
    }
  }
  Json changes = Json::object();
  for (const auto& [file, spans] : places) {
    for (const lang::Span span : spans) changes[file->uri()].push_back({{"range", file->range(span)}, {"newText", to}});
  }
  return Json{{"changes", std::move(changes)}};
}

}  // namespace allot::lsp
