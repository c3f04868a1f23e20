// Places as editors count them: lines from 0, characters in UTF-16 units from 0.
#pragma once

#include "lang/source.h"

namespace allot::lsp {

struct Position {
  int line = 0;
  int character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

Position position_of(const lang::Source& source, std::uint32_t offset);
// Beyond a line's end it is the line's end, beyond the last line the end of the text.
std::uint32_t offset_of(const lang::Source& source, Position position);

}  // namespace allot::lsp
