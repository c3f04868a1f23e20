#include "runtime/training/tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/engine/disk.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

using nlohmann::json;

constexpr const char* kPattern = "\\n|\\w+|[^\\w\\s]";

bool is_word(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 128 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool one_of(const std::string& word, std::string_view set) {
  return word.size() == 1 && set.find(word[0]) != std::string_view::npos;
}

bool close_to_previous(const std::string& word) { return one_of(word, ".,;:!?)]}-'/\n"); }
bool close_to_next(const std::string& word) { return one_of(word, "([{-'/\n"); }

json split_rule() {
  return {{"type", "Split"}, {"pattern", {{"Regex", kPattern}}}, {"behavior", "Removed"}, {"invert", true}};
}

Error refused(const std::filesystem::path& path, const std::string& what) {
  return Error{path.string() + ": " + what,
               "only word-level tokenizers written by this program are read for now; start from a fresh model, whose "
               "tokenizer is built from the world's words"};
}

// Null where `root[name]` is absent or null.
std::string kind_of(const json& root, const char* name) {
  const auto found = root.find(name);
  if (found == root.end() || found->is_null()) return "";
  return found->is_object() ? found->value("type", std::string("(unnamed)")) : "(unnamed)";
}

// What in the file this reader would have to ignore; empty when nothing.
std::string foreign_part(const json& root) {
  const std::string model = kind_of(root, "model");
  if (model != "WordLevel") return "holds a tokenizer of the kind " + (model.empty() ? "(none)" : model) + ", which is not supported";
  const std::string splitter = kind_of(root, "pre_tokenizer");
  if (splitter != "Split" || root.at("pre_tokenizer") != split_rule())
    return "its pre-tokenizer " + (splitter.empty() ? std::string("(none)") : splitter) + " is not supported";
  for (const char* part : {"normalizer", "post_processor"})
    if (const std::string kind = kind_of(root, part); !kind.empty())
      return "its " + std::string(part) + " " + kind + " is not supported";
  return "";
}

}  // namespace

std::vector<std::string_view> pieces(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    if (text[at] == '\n' || !is_space(text[at])) out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

Tokenizer Tokenizer::from_words(std::span<const std::string> words) {
  std::set<std::string> unique;
  for (const std::string& word : words)
    for (const std::string_view piece : pieces(word)) unique.emplace(piece);
  unique.erase("\n");

  Tokenizer result;
  result.words_ = {"<pad>", "<unk>", "<bos>", "<eos>", "\n"};
  result.special_ = {1, 1, 1, 1, 0};
  result.words_.insert(result.words_.end(), unique.begin(), unique.end());
  result.special_.resize(result.words_.size(), 0);
  (void)result.index();  // cannot fail: every word above is there once
  return result;
}

Result<void> Tokenizer::index() {
  ids_.clear();
  for (int id = 0; id < size(); ++id)
    if (!ids_.emplace(word(id), id).second)
      return Error{"tokenizer.json has the word \"" + word(id) + "\" twice, or leaves out an id", ""};
  pad_ = find("<pad>"), unk_ = find("<unk>"), bos_ = find("<bos>"), eos_ = find("<eos>"), newline_ = find("\n");
  if (unk_ < 0 || newline_ < 0 || pad_ < 0)
    return Error{"tokenizer.json lacks one of <pad>, <unk> and the line break", "actions end with a line break"};
  return {};
}

int Tokenizer::find(std::string_view word) const {
  const auto found = ids_.find(std::string(word));
  return found == ids_.end() ? -1 : found->second;
}

Result<Tokenizer> Tokenizer::read(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "tokenizer.json";
  const auto text = read_file(path);
  if (!text) return text.error();
  try {
    const json root = json::parse(*text);
    if (const std::string foreign = foreign_part(root); !foreign.empty()) return refused(path, foreign);
    const json& vocabulary = root.at("model").at("vocab");

    Tokenizer result;
    result.words_.resize(vocabulary.size());
    result.special_.assign(vocabulary.size(), 0);
    for (const auto& [word, id] : vocabulary.items()) {
      const std::size_t at = id.get<std::size_t>();
      if (at >= result.words_.size()) return refused(path, "the ids of its words leave gaps");
      result.words_[at] = word;
    }
    for (const json& added : root.value("added_tokens", json::array())) {
      const std::size_t at = added.at("id").get<std::size_t>();
      if (at >= result.words_.size() || result.words_[at] != added.at("content").get<std::string>())
        return refused(path, "an added token is not in its vocabulary");
      result.special_[at] = added.value("special", false);
    }
    if (auto indexed = result.index(); !indexed) return indexed.error();
    return result;
  } catch (const json::exception& problem) {
    return damaged(path, *text, problem, "take the file again from where the model came from");
  }
}

Result<void> Tokenizer::write(const std::filesystem::path& folder) const {
  json vocabulary = json::object(), added = json::array();
  for (int id = 0; id < size(); ++id) {
    vocabulary[word(id)] = id;
    if (special(id))
      added.push_back({{"id", id},
                       {"content", word(id)},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", true}});
  }
  const json root = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", split_rule()},
                     {"post_processor", nullptr},
                     {"decoder", nullptr},
                     {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}}}};
  try {
    return engine::replace_file(folder / "tokenizer.json", root.dump(1) + "\n");
  } catch (const json::exception&) {
    return Error{"a word of the vocabulary is not valid UTF-8, so tokenizer.json cannot hold it",
                 "the world must report its vocabulary in UTF-8"};
  }
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> out;
  for (const std::string_view piece : pieces(text)) {
    const int id = find(piece);
    out.push_back(id < 0 || special(id) ? unk_ : id);
  }
  return out;
}

std::string Tokenizer::decode(std::span<const int> tokens) const {
  std::string out;
  bool glued = true;  // nothing to part from yet
  for (const int token : tokens) {
    if (token < 0 || token >= size()) continue;
    const std::string& text = word(token);
    if (!glued && !close_to_previous(text)) out += ' ';
    out += text;
    glued = close_to_next(text);
  }
  return out;
}

}  // namespace allot::training
