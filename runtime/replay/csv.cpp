#include "runtime/replay/csv.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::replay {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  int line() const { return line_; }

  // One record; the line end after it is taken too.
  Result<std::vector<std::string>> record() {
    std::vector<std::string> fields;
    do {
      fields.emplace_back();
      const bool quoted = !done() && text_[at_] == '"';
      if (auto read = quoted ? quoted_field(fields.back()) : plain_field(fields.back()); !read) return read.error();
    } while (take(','));
    take('\r');
    if (!done() && !take('\n')) return Error{fmt::format("line {}: text follows a closing quote", line_), ""};
    ++line_;
    return fields;
  }

 private:
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<void> plain_field(std::string& field) {
    while (!done() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') field += text_[at_++];
    return {};
  }

  Result<void> quoted_field(std::string& field) {
    const int begin = line_;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[at_++];
      } else {
        ++at_;
        return {};
      }
    }
    return Error{fmt::format("line {}: a quote without an end", begin), ""};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::optional<std::size_t> Csv::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<Csv> parse_csv(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Reader reader(text);
  if (reader.done()) return Error{"the table is empty", "its first line names the columns"};
  auto header = reader.record();
  if (!header) return header.error();
  Csv csv;
  csv.header = *std::move(header);
  while (!reader.done()) {
    const int line = reader.line();
    auto row = reader.record();
    if (!row) return row.error();
    if (row->size() == 1 && row->front().empty()) continue;  // an empty line
    if (row->size() != csv.header.size()) {
      return Error{fmt::format("line {} has {} fields, the header has {}", line, row->size(), csv.header.size()), ""};
    }
    csv.rows.push_back(*std::move(row));
    csv.lines.push_back(line);
  }
  return csv;
}

}  // namespace allot::replay
