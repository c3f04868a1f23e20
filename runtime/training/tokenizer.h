// A word-level tokenizer: text is cut into pieces, and a piece is a token.
//
// A piece is (1) a line break, (2) a maximal run of ASCII letters, digits, underscores and bytes above 127, or (3) any
// other single character that is not white space. White space only separates. Nothing is lower-cased. The same rule
// stands in `tokenizer.json` as the pattern `\n|\w+|[^\w\s]`, so other readers of the format cut ASCII text alike.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"

namespace allot::training {

// The pieces of `text`, in order; views into it.
std::vector<std::string_view> pieces(std::string_view text);

class Tokenizer {
 public:
  // Ids: 0 <pad>, 1 <unk>, 2 <bos>, 3 <eos>, 4 the line break, then every piece of `words`, sorted, each once.
  static Tokenizer from_words(std::span<const std::string> words);

  // Reads and writes `folder/tokenizer.json`. Another kind of tokenizer (BPE, Unigram, WordPiece), another
  // pre-tokenizer, a normalizer or a post-processor is refused by name.
  static Result<Tokenizer> read(const std::filesystem::path& folder);
  Result<void> write(const std::filesystem::path& folder) const;

  // Unknown pieces become unk(). Special tokens are never made from text: an observation cannot forge one.
  std::vector<int> encode(std::string_view text) const;

  // Text whose encoding is `tokens` again (special tokens and unknown words aside). Words are parted by one space;
  // `.,;:!?)]}` stand close to the word before them, `([{` to the one after, `-'/` to both.
  std::string decode(std::span<const int> tokens) const;

  int size() const { return static_cast<int>(words_.size()); }
  int pad() const { return pad_; }
  int unk() const { return unk_; }
  int bos() const { return bos_; }
  int eos() const { return eos_; }
  int newline() const { return newline_; }  // ends an action
  bool special(int token) const { return special_[static_cast<std::size_t>(token)] != 0; }
  const std::string& word(int token) const { return words_[static_cast<std::size_t>(token)]; }
  int find(std::string_view word) const;  // -1 where there is none

 private:
  Result<void> index();  // fills what follows from words_ and special_

  std::vector<std::string> words_;
  std::vector<char> special_;
  std::unordered_map<std::string, int> ids_;
  int pad_ = -1, unk_ = -1, bos_ = -1, eos_ = -1, newline_ = -1;
};

}  // namespace allot::training
