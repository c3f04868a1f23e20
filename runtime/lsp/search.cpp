#include "runtime/lsp/search.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "lang/format/tokens.h"
#include "lang/limits.h"

namespace allot::lsp {

namespace fs = std::filesystem;

namespace {

// A workspace beyond this is somebody's whole disk: names are not followed through it.
constexpr std::size_t most_entries = 50'000;
constexpr std::size_t most_files = 2'000;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::optional<std::string> read_text(const fs::path& path) {
  std::error_code failure;
  if (fs::file_size(path, failure) > lang::limits.source_bytes || failure) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return std::nullopt;
  return text;
}

// `import …` or `policy a = b`. To check a file that does neither would be in vain.
bool names_files(const std::string& text) {
  const lang::Source source("", text);
  const std::vector<lang::format::Token> tokens = lang::format::tokens(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text == "import") return true;
    if (tokens[i].text == "policy" && i + 2 < tokens.size() && tokens[i + 2].text == "=") return true;
  }
  return false;
}

const Symbol* exported(const Document& document, const std::string& name, bool function) {
  for (const Symbol& symbol : document.symbols().all) {
    const bool fits = is_exported(symbol) && (symbol.kind == Symbol::Kind::Function) == function;
    if (fits && symbol.name == name) return &symbol;
  }
  return nullptr;
}

}  // namespace

bool is_exported(const Symbol& symbol) {
  return symbol.kind == Symbol::Kind::Function || symbol.kind == Symbol::Kind::Parameter ||
         symbol.kind == Symbol::Kind::State;
}

Result<lang::FoundFile> OpenFiles::find(const std::string& name, const std::string& importing) const {
  Result<lang::FoundFile> found = below_->find(name, importing);
  if (!found) return found;
  if (const auto open = texts_.find(found->key); open != texts_.end()) found->text = open->second;
  return found;
}

Search::Search(std::shared_ptr<const lang::Library> library, std::vector<fs::path> roots,
               const std::map<std::string, std::shared_ptr<const Document>>& open)
    : library_(std::move(library)), roots_(std::move(roots)) {
  for (const auto& [uri, document] : open) known_.emplace(library_->key(document->path()), document);
}

std::shared_ptr<const Document> Search::document_of(const std::string& key, const std::string& text) {
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, std::make_shared<const Document>(uri_of(key), text, library_)).first->second;
}

std::optional<Meant> Search::resolve(const Document& document, const ForeignName& foreign) {
  std::string file = foreign.file;
  std::string name = foreign.name;
  std::string importing = document.path();
  for (std::size_t step = 0; step < lang::limits.files; ++step) {  // members of members end, or run in a circle
    const Result<lang::FoundFile> found = library_->find(file, importing);
    if (!found) return std::nullopt;
    std::shared_ptr<const Document> owner = document_of(found->key, found->text);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      const Symbol* const symbol = exported(*owner, name, foreign.called);
      if (symbol == nullptr) return std::nullopt;
      return Meant{std::move(owner), symbol};
    }
    file = owner->member_file(name.substr(0, dot));
    if (file.empty()) return std::nullopt;
    name.erase(0, dot + 1);
    importing = found->path;
  }
  return std::nullopt;
}

std::optional<Meant> Search::meant_at(const Document& document, Position position) {
  const std::string key = library_->key(document.path());
  const auto self = known_.find(key);
  if (self == known_.end()) return std::nullopt;
  if (const ForeignName* const foreign = document.foreign_at(position)) return resolve(document, *foreign);
  const Symbol* const symbol = self->second->symbol_at(position);
  if (symbol == nullptr) return std::nullopt;
  return Meant{self->second, symbol};
}

void Search::collect(const fs::path& folder, bool below) {
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failure);
  const fs::recursive_directory_iterator end;
  for (std::size_t count = 0; !failure && entry != end; entry.increment(failure)) {
    std::error_code unknown;
    if (++count > most_entries || files_.size() >= most_files) {
      complete_ = false;
      return;
    }
    const bool is_folder = entry->is_directory(unknown);
    // What is hidden (installed packages among it) belongs to others.
    if (is_folder && (!below || is_hidden(entry->path()))) entry.disable_recursion_pending();
    if (!is_folder && entry->path().extension() == ".allot") files_.push_back(entry->path());
  }
}

std::vector<std::shared_ptr<const Document>> Search::files_with(const std::string& word, const Document& around) {
  if (!collected_) {
    collected_ = true;
    for (const fs::path& root : roots_) collect(root, true);
    if (roots_.empty()) collect(fs::path(around.path()).parent_path(), false);
  }
  std::map<std::string, std::shared_ptr<const Document>> found;
  for (const fs::path& path : files_) {
    const std::string key = library_->key(path.string());
    if (known_.contains(key)) {
      found.emplace(key, known_.at(key));
      continue;
    }
    const auto text = read_text(path);
    if (text && text->find(word) != std::string::npos && names_files(*text)) found.emplace(key, document_of(key, *text));
  }
  for (const auto& [key, document] : known_) {
    if (document->is_open()) found.emplace(key, document);
  }
  std::vector<std::shared_ptr<const Document>> documents;
  for (const auto& [key, document] : found) {
    if (document->text().find(word) != std::string_view::npos) documents.push_back(document);
  }
  return documents;
}

std::vector<Use> Search::uses_of(const Meant& meant) {
  std::vector<Use> uses;
  for (const lang::Span span : meant.symbol->uses) uses.push_back({meant.document, span});
  if (!is_exported(*meant.symbol)) return uses;
  for (const auto& document : files_with(meant.symbol->name, *meant.document)) {
    for (const ForeignName& foreign : document->foreign_names()) {
      if (foreign.name != meant.symbol->name && !foreign.name.ends_with("." + meant.symbol->name)) continue;
      const std::optional<Meant> other = resolve(*document, foreign);
      if (other && other->symbol == meant.symbol) uses.push_back({document, foreign.span});
    }
  }
  return uses;
}

}  // namespace allot::lsp
