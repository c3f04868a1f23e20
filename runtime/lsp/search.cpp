#include "runtime/lsp/search.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

#include "lang/limits.h"
#include "lang/words.h"

namespace allot::lsp {

namespace fs = std::filesystem;

namespace {

// A workspace beyond this is somebody's whole disk: names are not followed through it.
constexpr std::size_t most_entries = 50'000;
constexpr std::size_t most_files = 2'000;
constexpr std::uintmax_t most_bytes = 16 << 20;  // read for every question: some hundredths of a second

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::optional<std::string> read_text(const fs::path& path) {
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (failure || size > lang::limits.source_bytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return text;
}

// What follows is told from the letters, for to make tokens of every file takes far longer. A word in a comment is taken
// for one of the policy, and a file is looked at in vain.

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && lang::is_name_char(text[at])) ++at;
  return at;
}

// Where the word stands next, or npos.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at)) {
    const std::size_t end = end_of_word(text, at + word.size());
    const bool begins = at == 0 || !lang::is_name_char(text[at - 1]);
    if (begins && end == at + word.size()) return at;
    at = std::max(end, at + 1);
  }
  return std::string_view::npos;
}

bool holds_word(std::string_view text, std::string_view word) {
  return !word.empty() && find_word(text, word) != std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && lang::is_name_start(text.front()) && end_of_word(text, 0) == text.size();
}

std::size_t end_of_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (lang::is_blank(text[at]) || text[at] == '#')) {
    if (text[at] == '#') at = std::min(text.find_first_of("\r\n", at), text.size());
    if (at < text.size()) ++at;
  }
  return at;
}

// `import …` or `policy a = b`. To check a file that does neither would be in vain.
bool names_files(std::string_view text) {
  if (holds_word(text, "import")) return true;
  constexpr std::string_view policy = "policy";
  for (std::size_t at = find_word(text, policy); at != std::string_view::npos; at = find_word(text, policy, at)) {
    at = end_of_blanks(text, at + policy.size());
    const std::size_t after = end_of_blanks(text, end_of_word(text, at));
    if (after < text.size() && text[after] == '=') return true;
  }
  return false;
}

// A function, or a parameter or state.
const Symbol* declared(const Document& document, const std::string& name, bool function) {
  const auto& all = document.symbols().all;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Symbol& each) {
    const bool value = each.kind == Symbol::Kind::Parameter || each.kind == Symbol::Kind::State;
    return (function ? each.kind == Symbol::Kind::Function : value) && each.name == name;
  });
  return found == all.end() ? nullptr : &*found;
}

bool is_of_function(const Symbol& symbol) {
  return symbol.kind == Symbol::Kind::Function || symbol.kind == Symbol::Kind::Argument;
}

}  // namespace

bool is_exported(const Symbol& symbol) {
  return is_of_function(symbol) || symbol.kind == Symbol::Kind::Parameter || symbol.kind == Symbol::Kind::State;
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

const Search::Named& Search::file_named(const std::string& name, const std::string& importing) {
  const auto [place, fresh] = named_.try_emplace(std::pair(importing, name));
  if (!fresh) return place->second;
  if (const Result<lang::FoundFile> found = library_->find(name, importing)) {
    place->second = {document_of(found->key, found->text), found->path};
  }
  return place->second;
}

std::optional<Meant> Search::resolve(const Document& document, const ForeignName& foreign) {
  std::string file = foreign.file;
  std::string name = foreign.name;
  std::string importing = document.path();
  for (std::size_t step = 0; step < lang::limits.files; ++step) {  // members of members end, or run in a circle
    const Named& owner = file_named(file, importing);
    if (owner.document == nullptr) return std::nullopt;
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      const Symbol* symbol = declared(*owner.document, name, foreign.called);
      if (symbol != nullptr && !foreign.argument.empty()) {
        symbol = owner.document->symbols().argument(*symbol, foreign.argument);
      }
      if (symbol == nullptr) return std::nullopt;
      return Meant{owner.document, symbol};
    }
    file = owner.document->member_file(name.substr(0, dot));
    if (file.empty()) return std::nullopt;
    name.erase(0, dot + 1);
    importing = owner.path;
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

// ---- other files

void Search::collect(const Document& around) {
  if (collected_) return;
  collected_ = true;
  for (const fs::path& root : roots_) collect(root, true);
  if (roots_.empty()) collect(fs::path(around.path()).parent_path(), false);
}

void Search::collect(const fs::path& folder, bool below) {
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failure);
  const fs::recursive_directory_iterator end;
  for (std::size_t count = 0; !failure && entry != end; entry.increment(failure)) {
    std::error_code unknown;
    if (++count > most_entries || files_.size() >= most_files || bytes_ > most_bytes) {
      complete_ = false;
      return;
    }
    const bool is_folder = entry->is_directory(unknown);
    // What is hidden (installed packages among it) belongs to others.
    if (is_folder && (!below || is_hidden(entry->path()))) entry.disable_recursion_pending();
    if (is_folder || entry->path().extension() != ".allot") continue;
    const std::uintmax_t size = entry->file_size(unknown);
    if (unknown || size > lang::limits.source_bytes) continue;  // no policy
    bytes_ += size;
    files_.push_back({entry->path(), library_->key(entry->path().string())});
  }
}

std::vector<std::shared_ptr<const Document>> Search::files_that(
    const Document& own, const std::function<bool(std::string_view)>& may_use) {
  collect(own);
  std::map<std::string, std::shared_ptr<const Document>> found;
  for (const OnDisk& file : files_) {
    if (const auto known = known_.find(file.key); known != known_.end()) {
      found.emplace(file.key, known->second);
      continue;
    }
    const auto text = read_text(file.path);
    if (text && may_use(*text) && names_files(*text)) found.emplace(file.key, document_of(file.key, *text));
  }
  for (const auto& [key, document] : known_) {
    if (document->is_open()) found.emplace(key, document);
  }
  std::vector<std::shared_ptr<const Document>> documents;
  for (const auto& [key, document] : found) {
    if (document.get() == &own || may_use(document->text())) documents.push_back(document);
  }
  return documents;
}

std::vector<std::string> Search::words_for(const Document& document) {
  collect(document);
  const std::string key = library_->key(document.path());
  std::set<std::string> words{fs::path(key).stem().string(), fs::path(document.path()).stem().string()};
  for (const OnDisk& file : files_) {
    if (file.key == key) words.insert(file.path.stem().string());  // a link
  }
  std::erase_if(words, [](const std::string& word) { return !is_name(word); });
  return {words.begin(), words.end()};
}

std::vector<std::shared_ptr<const Document>> Search::files_with(const Meant& meant) {
  const Symbol& symbol = *meant.symbol;
  // Who calls a function imports its file. A parameter can be that of a member's member, whose file is not named.
  const std::vector<std::string> words = is_of_function(symbol) ? words_for(*meant.document) : std::vector<std::string>();
  if (is_of_function(symbol) && words.empty()) return {meant.document};  // of a file that cannot be imported
  return files_that(*meant.document, [&](std::string_view text) {
    const auto holds = [&](std::string_view word) { return holds_word(text, word); };
    return holds(symbol.name) && (words.empty() || std::any_of(words.begin(), words.end(), holds));
  });
}

std::vector<Use> Search::uses_of(const Meant& meant) {
  std::vector<Use> uses;
  for (const lang::Span span : meant.symbol->uses) uses.push_back({meant.document, span});
  if (!is_exported(*meant.symbol)) return uses;
  for (const auto& document : files_with(meant)) {
    for (const ForeignName& foreign : document->foreign_names()) {
      if (foreign.word() != meant.symbol->name) continue;
      const std::optional<Meant> other = resolve(*document, foreign);
      if (other && other->symbol == meant.symbol) uses.push_back({document, foreign.span});
    }
  }
  return uses;
}

// ---- compositions

std::vector<std::shared_ptr<const Document>> Search::compositions_of(const Document& member) {
  std::vector<std::shared_ptr<const Document>> found;
  std::vector<const Document*> open{&member};
  while (!open.empty()) {
    const Document& part = *open.back();
    open.pop_back();
    // Whatever it is called there, it is named by its file somewhere.
    const std::vector<std::string> words = words_for(part);
    if (words.empty()) continue;
    const auto naming = files_that(part, [&](std::string_view text) {
      return std::any_of(words.begin(), words.end(), [&](const auto& word) { return holds_word(text, word); });
    });
    for (const auto& document : naming) {
      const std::vector<std::string> members = document->member_files();
      const bool composed = std::any_of(members.begin(), members.end(), [&](const std::string& file) {
        return file_named(file, document->path()).document.get() == &part;
      });
      if (!composed || std::find(found.begin(), found.end(), document) != found.end()) continue;
      found.push_back(document);
      open.push_back(document.get());
    }
  }
  return found;
}

std::shared_ptr<const Document> Search::shared_by(const std::shared_ptr<const Document>& composition,
                                                  const Meant& input) {
  std::set<const Document*> seen;
  std::vector<std::shared_ptr<const Document>> open{composition};
  while (!open.empty()) {
    const std::shared_ptr<const Document> part = open.back();
    open.pop_back();
    if (!seen.insert(part.get()).second) continue;
    const auto& all = part->symbols().all;
    const bool has = part != input.document && std::any_of(all.begin(), all.end(), [&](const Symbol& each) {
      return each.kind == Symbol::Kind::Input && each.name == input.symbol->name;
    });
    if (has) return part;
    for (const std::string& file : part->member_files()) {
      if (auto member = file_named(file, part->path()).document) open.push_back(std::move(member));
    }
  }
  return nullptr;
}

}  // namespace allot::lsp
