#include "runtime/engine/journal_chain.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap_files.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// By its beginning, so that most lines need neither be checked nor parsed.
bool is_of(std::string_view line, std::string_view kind) {
  constexpr std::string_view begin = "{\"k\":\"";
  return line.starts_with(begin) && line.substr(begin.size()).starts_with(kind) &&
         line.substr(begin.size() + kind.size()).starts_with('"');
}

// Of a line; empty where it has none.
std::string text_of(std::string_view line, const char* member) {
  const Json record = Json::parse(line, nullptr, false);
  const bool told = record.is_object() && record.contains(member) && record.at(member).is_string();
  return told ? record.at(member).get<std::string>() : "";
}

// Calls `use` for each line, good or not, until it gives false; whether it never did.
Result<bool> each_line(const fs::path& file, const std::function<bool(const std::string&)>& use) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return cannot("read", file);
  for (std::string line; std::getline(stream, line);) {
    if (!use(line)) return false;
  }
  return true;
}

bool is_good(std::string_view line, std::string_view kind) { return is_of(line, kind) && is_sealed(line); }

// Adds the lines of a segment; whether one of them told the sum of those before it.
Result<bool> add_lines(const fs::path& file, LineChain& chain) {
  bool told_one = false;
  std::vector<std::string> since;  // the last told sum, which stands for all before
  auto read = each_line(file, [&](const std::string& line) {
    if (is_good(line, "run") || is_good(line, "end")) {
      if (const auto told = told_sum(Json::parse(line, nullptr, false))) {
        chain.restart(told->sum);
        since.clear();
        told_one = true;
      }
    }
    since.push_back(line);
    return true;
  });
  if (!read) return read.error();
  for (const std::string& line : since) {
    if (is_sealed(line)) chain.add(line);
  }
  return told_one;
}

fs::path segment_file(const fs::path& folder, int number) { return folder / fmt::format("{:06}.jsonl", number); }

// The journal of a run that was taken up in another folder begins with the end on which it stands.
Result<bool> began_from(const fs::path& folder, const std::string& sum) {
  bool found = false;
  for (const fs::path& file : segments(folder)) {
    auto goes_on = each_line(file, [&](const std::string& line) {
      if (is_good(line, "resume")) found = found || text_of(line, "from") == sum;
      return !found && !is_good(line, "begin");
    });
    if (!goes_on) return goes_on.error();
    if (!*goes_on) break;
  }
  return found;
}

constexpr std::string_view put_back = "put the segment back, or start a new run in another folder";

}  // namespace

std::optional<ToldSum> told_sum(const Json& record) {
  static constexpr std::array older{"", "journal/1", "journal/2", "journal/3"};
  if (!record.is_object()) return std::nullopt;
  const std::string kind = record.value("k", "");
  if (kind == "run") {
    const bool anew = std::find(older.begin(), older.end(), record.value("schema", "")) != older.end();
    return anew ? ToldSum{"", true} : ToldSum{record.at("sum").get<std::string>()};
  }
  if (kind != "end" || !record.contains("sum")) return std::nullopt;
  return ToldSum{record.at("sum").get<std::string>()};
}

// Only what comes after the last told sum is of interest, and that is mostly in the last segment.
Result<std::string> journal_sum(const fs::path& folder) {
  const std::vector<fs::path> files = segments(folder);
  try {
    for (std::size_t first = files.size(); first-- > 0;) {
      LineChain chain;
      bool told = false;
      for (std::size_t i = first; i < files.size(); ++i) {
        auto added = add_lines(files[i], chain);
        if (!added) return added.error();
        told = told || *added;
      }
      if (told || first == 0) return chain.sum_so_far();
    }
  } catch (const Json::exception& problem) {
    return Error{fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what()),
                 "go on with the program that wrote it"};
  }
  return std::string();
}

bool has_an_end(const fs::path& folder) {
  const std::vector<fs::path> files = segments(folder);
  return std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    const auto none = each_line(file, [](const std::string& line) { return !is_good(line, "end"); });
    return none && !*none;
  });
}

std::vector<std::string> missing_segments(const fs::path& folder) {
  std::vector<std::string> missing;
  int expected = 1;
  for (const fs::path& file : segments(folder)) {
    const int number = std::atoi(file.stem().c_str());
    if (number < expected || file.filename() != segment_file(folder, number).filename()) {
      missing.push_back(fmt::format("A file is no segment of the journal: {}.", file.string()));
      continue;
    }
    if (number > expected) {
      missing.push_back(fmt::format("A segment of the journal is missing: there is {}, but no {}.", file.string(),
                                    segment_file(folder, expected).filename().string()));
    }
    expected = number + 1;
  }
  return missing;
}

std::string sum_with(std::string_view end) {
  LineChain chain;
  chain.restart(text_of(end, "sum"));
  chain.add(end);
  return chain.sum_so_far();
}

Result<void> check_mark(const fs::path& folder, const JournalMark& mark, std::string_view who) {
  const fs::path file = segment_file(folder, mark.segment);
  std::error_code ignored;
  const bool there = fs::exists(file, ignored);
  if (there) {
    auto missed = each_line(file, [&](const std::string& line) { return !is_good(line, "end") || sum_with(line) != mark.sum; });
    if (!missed) return missed.error();
    if (!*missed) return {};
  }
  auto began = began_from(folder, mark.sum);
  if (!began) return began.error();
  if (*began) return {};
  if (!there) {
    return Error{fmt::format("A segment of the journal is missing: {} stands on an iteration that ended in {}, which is not there.",
                             who, file.string()),
                 std::string(put_back)};
  }
  return Error{fmt::format("A segment of the journal is not the one that was written: {} stands on an iteration that ended in "
                           "{}, with the sum {}, and no iteration there has that: lines were changed, or cut off the end.",
                           who, file.string(), mark.sum.substr(0, 12)),
               std::string(put_back)};
}

std::vector<int> ended_beyond(const fs::path& folder, const JournalMark& mark) {
  std::set<int> beyond;
  bool reached = false;
  for (const fs::path& file : segments(folder)) {
    if (std::atoi(file.stem().c_str()) < mark.segment) continue;
    // What cannot be read was told by check_mark(), or is told by whoever opens the journal.
    (void)each_line(file, [&](const std::string& line) {
      if (!is_good(line, "end")) return true;
      const Json record = reached ? Json::parse(line, nullptr, false) : Json();
      const bool told = record.is_object() && record.contains("it") && record.at("it").is_number_integer();
      if (told) beyond.insert(record.at("it").get<int>());
      reached = reached || sum_with(line) == mark.sum;
      return true;
    });
  }
  return {beyond.begin(), beyond.end()};
}

std::string again_words(const std::vector<int>& iterations) {
  if (iterations.size() == 1) return fmt::format("iteration {} had ended, and runs again", iterations.front());
  return fmt::format("iterations {} had ended, and run again", fmt::join(iterations, ", "));
}

std::vector<Acknowledged> acknowledged(const fs::path& run) {
  std::vector<Acknowledged> found;
  for (const char* const name : {"state.json", "checkpoint/engine/state.json"}) {
    const auto text = read_whole(run / name);
    const auto mark = text ? read_saved_mark(*text) : std::nullopt;
    if (mark) found.push_back({name, *mark});
  }
  return found;
}

Result<void> check_journal(const fs::path& run) {
  const fs::path folder = run / "journal";
  std::error_code ignored;
  if (segments(folder).empty() && fs::exists(run / "state.json", ignored)) {
    return Error{fmt::format("The journal of this run is missing: {} holds no segments, but state.json tells of decisions.",
                             folder.string()),
                 "put the journal folder back, or start a new run in another folder"};
  }
  if (const auto missing = missing_segments(folder); !missing.empty()) return Error{missing.front(), std::string(put_back)};
  for (const Acknowledged& state : acknowledged(run)) {
    if (auto held = check_mark(folder, state.mark, state.file); !held) return held;
  }
  return {};
}

}  // namespace allot::engine
