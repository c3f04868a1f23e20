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

// One policy file, or several that make one policy: then they share one space of offsets, so that a span alone tells
// the file. Line ends are LF, CR LF or a lone CR; a BOM at the start of a file is skipped and counts for nothing.
class Source {
 public:
  Source(std::string name, std::string text);
  // The file of the policy itself, then what it uses: names and texts.
  explicit Source(std::vector<std::pair<std::string, std::string>> files);

  // ---- all of it
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const;
  std::string_view line(int number) const;  // without its line end; lines of all files, counted on
  int line_count() const { return static_cast<int>(line_starts_.size()); }

  // ---- its files
  const std::string& name() const { return files_.front().name; }  // of the first
  const std::string& name(std::uint32_t offset) const { return file_at(offset).name; }
  std::size_t file_count() const { return files_.size(); }
  Span file(std::size_t index) const;
  std::string_view file_text(std::size_t index) const { return text(file(index)); }

  Place place(std::uint32_t offset) const;               // within its file
  std::string_view line_at(std::uint32_t offset) const;  // the whole line around it
  std::string where(std::uint32_t offset) const;         // "gates.allot:12"

 private:
  struct File {
    std::string name;
    std::uint32_t begin = 0;
    int lines_before = 0;
  };
  const File& file_at(std::uint32_t offset) const;
  int line_number(std::uint32_t offset) const;  // counted on over all files

  std::vector<File> files_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

// A piece of a policy on one line: comments go, white space shrinks.
std::string one_line(std::string_view text);

}  // namespace allot::lang
