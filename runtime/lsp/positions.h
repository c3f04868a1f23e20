// Places as editors count them: lines from 0, characters in UTF-16 units from 0.
#pragma once

#include <string_view>

#include "lang/source.h"

namespace allot::lsp {

struct Position {
  int line = 0;
  int character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// Positions of many offsets of one source: an offset on the line of the one before, and not left of it, is counted on
// from there, so that a long line costs its length once and not once for each name in it.
class PositionCursor {
 public:
  Position at(const lang::Source& source, std::uint32_t offset);

 private:
  std::string_view line_;
  std::uint32_t begin_ = 0;  // of that line
  std::size_t within_ = 0;   // how far it is counted
  Position position_;
};

// Beyond a line's end it is the line's end, beyond the last line the end of the text.
std::uint32_t offset_of(const lang::Source& source, Position position);

}  // namespace allot::lsp
