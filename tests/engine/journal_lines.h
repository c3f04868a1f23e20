// A journal as whoever changes it by hand sees it.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "tests/engine/folder.h"

namespace allot::engine::bench {

inline std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::istringstream text(read_file(file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

inline void write_lines(const std::filesystem::path& file, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_file(file, text);
}

// With a checksum that fits.
inline std::string sealed(nlohmann::ordered_json record) {
  record.erase("crc");
  return seal(dump(record));
}

}  // namespace allot::engine::bench
