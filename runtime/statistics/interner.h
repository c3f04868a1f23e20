// Texts to symbols. Two actions are the same symbol exactly when their canonical texts are equal; how many tokens the
// model needed for them does not matter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/statistics/symbol.h"

namespace allot::statistics {

class Interner {
 public:
  Interner();

  // The symbol of `text`, a new one where it was not seen before. "invalid" is invalid_symbol; no text is end_symbol.
  Symbol intern(std::string_view text);
  std::optional<Symbol> find(std::string_view text) const;
  // The text of a symbol that this interner gave out; "END" for end_symbol.
  std::string_view text(Symbol symbol) const;
  int size() const;  // symbols given out, the two reserved ones included

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, Symbol, Hash, std::equal_to<>> symbols_;
  std::vector<std::string> texts_;
};

}  // namespace allot::statistics
