// The edit-distance tables of all pairs of a growing set of growing sequences, of which only the edge is kept.
//
// For the ordered pair (pattern i, text j) this holds the last column of the table of i against all of j, as the
// differences between its rows, one bit each for +1 and −1 (Myers 1999; Hyyrö 2003). Appending to j moves that column
// one to the right for every i, ⌈|i|/64⌉ word operations each. The bottom difference that falls out is at the same time
// the new last row of the transposed pair, so nothing else is needed, in whatever order the sequences grow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/statistics/symbol.h"

namespace allot::statistics {

class PairColumns {
 public:
  // A further, empty sequence; returns its index.
  int add();
  void append(int text, Symbol symbol);

  int count() const { return static_cast<int>(lengths_.size()); }
  int length(int sequence) const { return lengths_[static_cast<std::size_t>(sequence)]; }
  // Distance of the first `rows` symbols of `pattern` from all of `text`; 0 <= rows <= length(pattern).
  int distance(int pattern, int rows, int text) const;

  // By sequence: the lengths, and the distances of the whole sequences to the whole of `text`. The entry of `text`
  // itself means nothing.
  std::span<const int> lengths() const { return lengths_; }
  std::span<const int> distances_to(int text) const {
    return std::span(distances_).subspan(cell(text, 0), lengths_.size());
  }

 private:
  using Word = std::uint64_t;
  // Rows 64 w … 64 w + 63 of every column. Patterns lie side by side, so that one pass serves a whole group.
  struct Block {
    std::vector<Word> rises;   // [text][pattern]: rows that are one above the row before
    std::vector<Word> falls;   // [text][pattern]: rows that are one below it
    std::vector<Word> masks;   // [symbol][pattern]: rows that hold the symbol
    std::vector<Word> bottom;  // [pattern]: the last row, where it lies in this block
  };

  std::size_t cell(int row, int column) const {
    return static_cast<std::size_t>(row) * stride_ + static_cast<std::size_t>(column);
  }
  void widen(std::size_t stride);
  Block make_block() const;
  int local_symbol(Symbol symbol);
  void advance(int text, int symbol);
  void grow(int text, int symbol);

  std::size_t stride_ = 0;  // patterns a row has room for
  std::vector<Block> blocks_;
  std::vector<int> lengths_;
  std::vector<int> distances_;  // [text][pattern], whole against whole
  std::vector<int> local_;      // by symbol (an interner counts them up from 0): its place in the masks; -1: none yet
  std::size_t symbols_ = 0;     // that have a place
  std::vector<Word> empty_;  // by pattern: 1 where it has no symbol yet
  // Of the append in progress, by pattern: the difference that enters the block from above, and that of the last row.
  std::vector<Word> enters_up_, enters_down_, leaves_up_, leaves_down_;
};

}  // namespace allot::statistics
