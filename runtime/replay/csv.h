// Comma-separated values as RFC 4180 has them: a header, quoted fields, LF or CR LF.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace allot::replay {

struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as wide as the header
  std::vector<int> lines;                      // by row: the line it begins on, from 1

  std::optional<std::size_t> column(std::string_view name) const;
};

// An error names the line: a quote without an end, a row that is wider or narrower than the header, no header.
Result<Csv> parse_csv(std::string_view text);

}  // namespace allot::replay
