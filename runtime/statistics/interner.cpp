#include "runtime/statistics/interner.h"

namespace allot::statistics {

// END is in no table: an action whose text happens to be "END" must stay an action.
Interner::Interner() : texts_{"END", "invalid"} {
  symbols_.emplace("invalid", invalid_symbol);
}

Symbol Interner::intern(std::string_view text) {
  if (const std::optional<Symbol> known = find(text)) return *known;
  const auto symbol = static_cast<Symbol>(texts_.size());
  symbols_.emplace(text, symbol);
  texts_.emplace_back(text);
  return symbol;
}

std::optional<Symbol> Interner::find(std::string_view text) const {
  const auto found = symbols_.find(text);
  return found == symbols_.end() ? std::nullopt : std::optional(found->second);
}

std::string_view Interner::text(Symbol symbol) const {
  return texts_.at(static_cast<std::size_t>(symbol));
}

int Interner::size() const {
  return static_cast<int>(texts_.size());
}

}  // namespace allot::statistics
