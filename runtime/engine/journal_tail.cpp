#include "runtime/engine/journal_tail.h"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal.h"

namespace allot::engine {

Result<std::vector<std::string>> JournalTail::poll(const std::function<void(const nlohmann::ordered_json&)>& use) {
  std::vector<std::string> damaged;
  const std::vector<std::filesystem::path> files = segments(folder_);
  if (files.empty()) return Error{"There is no journal in " + folder_.string() + ".", "give the folder of a run"};
  for (; segment_ < files.size(); ++segment_, line_ = offset_ = 0) {
    std::ifstream stream(files[segment_], std::ios::binary);
    stream.seekg(offset_);
    std::string line;
    // A line without its end is still being written.
    while (std::getline(stream, line) && !stream.eof()) {
      ++line_;
      offset_ += static_cast<std::int64_t>(line.size()) + 1;
      if (const auto record = unseal(line)) {
        use(*record);
      } else {
        damaged.push_back(fmt::format("{}:{}: the line is damaged: its checksum does not fit.", files[segment_].string(), line_));
      }
    }
    if (segment_ + 1 == files.size()) break;  // the last one grows
  }
  return damaged;
}

}  // namespace allot::engine
