// A unified diff of two texts, by the longest common subsequence of their lines.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "lang/format/format.h"

namespace allot::lang::format {
namespace {

constexpr std::size_t context = 3;
constexpr std::size_t most_cells = 16'000'000;  // of the table; beyond, the differing middle is one change

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Edit {
  char kind = ' ';  // ' ' kept, '-' taken out, '+' put in
  std::string_view line;
};

using Lines = std::vector<std::string_view>;

void middle(const Lines& a, std::size_t a_begin, std::size_t a_end, const Lines& b, std::size_t b_begin,
            std::size_t b_end, std::vector<Edit>& edits) {
  const std::size_t rows = a_end - a_begin, width = b_end - b_begin + 1;
  const bool searched = (rows + 1) * width <= most_cells;
  std::vector<std::uint32_t> common(searched ? (rows + 1) * width : 0);  // of the tails from there on
  if (searched) {
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = width - 1; j-- > 0;) {
        common[i * width + j] = a[a_begin + i] == b[b_begin + j]
                                    ? common[(i + 1) * width + j + 1] + 1
                                    : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
  }
  std::size_t i = 0, j = 0;
  while (i < rows || j + 1 < width) {
    if (searched && i < rows && j + 1 < width && a[a_begin + i] == b[b_begin + j]) {
      edits.push_back({' ', a[a_begin + i]});
      ++i, ++j;
    } else if (i < rows && (!searched || j + 1 == width || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      edits.push_back({'-', a[a_begin + i++]});
    } else {
      edits.push_back({'+', b[b_begin + j++]});
    }
  }
}

std::vector<Edit> edits_of(const Lines& a, const Lines& b) {
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', a[i]});
  middle(a, head, a.size() - tail, b, head, b.size() - tail, edits);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) edits.push_back({' ', a[i]});
  return edits;
}

}  // namespace

std::string difference(const std::string& name, const std::string& before, const std::string& after) {
  if (before == after) return {};
  const Lines old_lines = lines_of(before), new_lines = lines_of(after);
  const std::vector<Edit> edits = edits_of(old_lines, new_lines);
  std::string text = fmt::format("--- {}\n+++ {} (formatted)\n", name, name);
  std::size_t old_line = 1, new_line = 1;
  for (std::size_t at = 0; at < edits.size();) {
    if (edits[at].kind == ' ' &&
        std::none_of(edits.begin() + static_cast<std::ptrdiff_t>(at),
                     edits.begin() + static_cast<std::ptrdiff_t>(std::min(edits.size(), at + context + 1)),
                     [](const Edit& edit) { return edit.kind != ' '; })) {
      ++at, ++old_line, ++new_line;
      continue;
    }
    std::size_t end = at, kept = 0;  // the hunk ends where more lines are kept than two hunks show between them
    for (std::size_t i = at; i < edits.size() && kept <= 2 * context; ++i) {
      kept = edits[i].kind == ' ' ? kept + 1 : 0;
      if (kept <= context) end = i + 1;
    }
    std::size_t old_count = 0, new_count = 0;
    std::string body;
    for (std::size_t i = at; i < end; ++i) {
      old_count += edits[i].kind != '+';
      new_count += edits[i].kind != '-';
      body += fmt::format("{}{}{}", edits[i].kind, edits[i].line,
                          edits[i].line.ends_with('\n') ? "" : "\n\\ No newline at end of file\n");
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", old_line, old_count, new_line, new_count, body);
    old_line += old_count;
    new_line += new_count;
    at = end;
  }
  return text;
}

}  // namespace allot::lang::format
