#include "runtime/statistics/interner.h"

#include <functional>
#include <stdexcept>

namespace allot::statistics {
namespace {

constexpr Symbol empty = -1;
constexpr std::size_t least_places = 128;  // a group of 8 rollouts rarely has more than 64 actions: no second table

}  // namespace

// END is in no table: an action whose text happens to be "END" must stay an action.
Interner::Interner() : table_(least_places, empty) {
  keep("END");
  table_[place_of("invalid")] = keep("invalid");
}

Symbol Interner::intern(std::string_view text) {
  const std::size_t place = place_of(text);
  if (table_[place] != empty) return table_[place];
  const Symbol symbol = keep(text);
  if (2 * ends_.size() <= table_.size()) {
    table_[place] = symbol;
  } else {
    grow();
  }
  return symbol;
}

std::optional<Symbol> Interner::find(std::string_view text) const {
  const Symbol symbol = table_[place_of(text)];
  return symbol == empty ? std::nullopt : std::optional(symbol);
}

std::string_view Interner::text(Symbol symbol) const {
  const auto index = static_cast<std::size_t>(symbol);
  if (index >= ends_.size()) throw std::out_of_range("a symbol of another interner");
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

int Interner::size() const {
  return static_cast<int>(ends_.size());
}

// The youngest is alone at the end of its probes: nothing was placed after it, whether the table grew since or not.
void Interner::forget_from(int size) {
  while (this->size() > size) {
    table_[place_of(text(this->size() - 1))] = empty;
    ends_.pop_back();
  }
  bytes_.resize(ends_.back());
}

// Where `text` is, or where it belongs: linear probing, at most half of the places are taken.
std::size_t Interner::place_of(std::string_view text) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = std::hash<std::string_view>{}(text) & mask;
  while (table_[place] != empty && this->text(table_[place]) != text) place = (place + 1) & mask;
  return place;
}

Symbol Interner::keep(std::string_view text) {
  bytes_ += text;
  ends_.push_back(bytes_.size());
  return static_cast<Symbol>(ends_.size() - 1);
}

void Interner::grow() {
  table_.assign(2 * table_.size(), empty);
  for (Symbol symbol = invalid_symbol; symbol < size(); ++symbol) table_[place_of(text(symbol))] = symbol;
}

}  // namespace allot::statistics
