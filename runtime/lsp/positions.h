// Places as editors count them: lines from 0, characters in UTF-16 units from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "lang/source.h"

namespace allot::lsp {

struct Position {
  int line = 0;
  int character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// Of the offsets of one text, which must outlive it: as quick at the end of a long line as at its begin.
class Positions {
 public:
  explicit Positions(const lang::Source& source);
  Position of(std::uint32_t offset) const;

 private:
  std::uint32_t units_before(std::uint32_t offset) const;

  const lang::Source* source_;
  std::vector<std::uint32_t> begins_;  // of the lines
  std::vector<std::uint32_t> units_;   // before each `stride`th byte
};

// Beyond a line's end it is the line's end, beyond the last line the end of the text.
std::uint32_t offset_of(const lang::Source& source, Position position);

}  // namespace allot::lsp
