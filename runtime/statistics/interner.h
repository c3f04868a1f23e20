// Texts to symbols. Two actions are the same symbol exactly when their canonical texts are equal; how many tokens the
// model needed for them does not matter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/statistics/symbol.h"

namespace allot::statistics {

class Interner {
 public:
  Interner();

  // The symbol of `text`, a new one where it was not seen before. "invalid" is invalid_symbol; no text is end_symbol.
  Symbol intern(std::string_view text);
  std::optional<Symbol> find(std::string_view text) const;
  // Forgets the symbols from `size` on, as if their texts had never been seen.
  void forget_from(int size);
  // The text of a symbol that this interner gave out; "END" for end_symbol. Valid until the next intern().
  std::string_view text(Symbol symbol) const;
  int size() const;  // symbols given out, the two reserved ones included

 private:
  std::size_t place_of(std::string_view text) const;
  Symbol keep(std::string_view text);
  void grow();

  std::string bytes_;               // all texts, one behind the other: one allocation for many short ones
  std::vector<std::size_t> ends_;   // by symbol: where its text ends
  std::vector<Symbol> table_;       // open addressing by hash; its size is a power of two
};

}  // namespace allot::statistics
