// The pass before the grammar: is this text at all, where do its items begin, and is it shallow enough to be read.
//
// The grammar recurses, so nothing reaches it that is nested deeper than `limits.depth`. Items are cut here, so the
// grammar reads each alone and a mistake in one leaves the others to be read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostics.h"
#include "lang/source.h"

namespace allot::lang {

struct Comment {
  Span span;              // from '#', without the line end
  bool doc = false;       // begins with "##"
  bool own_line = false;  // nothing but blanks before it on its line
};

struct Item {
  Span span;            // first to last token
  std::string word;     // "policy", "on", …; what stands there where that starts no item
  std::string doc;      // the `##` lines right before it, joined by LF
  bool broken = false;  // a mistake in it has been reported: do not read it
};

struct Scan {
  std::vector<Item> items;
  std::vector<Comment> comments;  // in order; the grammar skips them and a formatter puts them back
};

// One file of the source. Empty where nothing can be read: too large, or not UTF-8.
std::optional<Scan> scan(const Source& source, Diagnostics& diagnostics, std::size_t file = 0);
// The same checks for a source that is one expression; it has one item.
std::optional<Scan> scan_expression(const Source& source, Diagnostics& diagnostics);

}  // namespace allot::lang
