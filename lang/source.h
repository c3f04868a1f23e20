// Source text and positions in it. Everything after the scanner speaks in byte offsets; people read lines and columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allot::lang {

// Half-open range of byte offsets into one Source.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Place {
  int line = 1;    // from 1
  int column = 1;  // from 1, in code points; a tab is one
};

// One policy file. Line ends are LF, CR LF or a lone CR; a BOM at the start is skipped and counts for nothing.
class Source {
 public:
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const;
  Place place(std::uint32_t offset) const;
  std::string_view line(int number) const;  // without its line end
  int line_count() const { return static_cast<int>(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

}  // namespace allot::lang
