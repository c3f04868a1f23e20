#include "runtime/engine/state_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/disk.h"
#include "runtime/math/checksum.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t rows_a_line = 64;
constexpr std::array names{"prompts", "categories", "histories"};

fs::path rows_folder(const fs::path& folder) { return folder / "state"; }

// Calls `use` with the name and the moment of each table.
template <typename Use>
void each_table(const Snapshot& snapshot, Use use) {
  use(0, snapshot.memory.prompts);
  use(1, snapshot.memory.categories);
  use(2, snapshot.histories);
}

// The rows of a table that were written after `after`, some a line; how many.
template <typename Moment>
std::size_t put_rows(GrowingFile& file, const char* name, const Moment& table, int after) {
  std::size_t count = 0, in_line = 0;
  JsonText text;
  const auto end_line = [&] {
    if (in_line == 0) return;
    file.append(seal(text.end_array().end_object().take()));
    file.append("\n");
    in_line = 0;
  };
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.stamp(row) <= after) continue;
    if (in_line == 0) text.begin_object().member("table", name).key("rows").begin_array();
    text.begin_array().value(table.key(row)).value(table.stamp(row));
    put_values(text, table.values(row));
    text.end_array();
    ++count;
    if (++in_line == rows_a_line) end_line();
  }
  end_line();
  return count;
}

template <typename Moment>
int oldest_stamp(const Moment& table) {
  int oldest = std::numeric_limits<int>::max();
  for (std::size_t row = 0; row < table.size(); ++row) oldest = std::min(oldest, table.stamp(row));
  return oldest;
}

std::vector<fs::path> rows_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(rows_folder(folder), error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  return files;
}

}  // namespace

bool StateFiles::continues(const Snapshot& snapshot) const {
  return latest_ && snapshot.memory.prompts.continues(latest_->prompts) &&
         snapshot.memory.categories.continues(latest_->categories) && snapshot.histories.continues(latest_->histories);
}

std::array<int, StateFiles::table_count> StateFiles::stamps(const Snapshot& snapshot) const {
  return {snapshot.memory.prompts.now(), snapshot.memory.categories.now(), snapshot.histories.now()};
}

// None where no row was written since.
Result<std::optional<StateFiles::File>> StateFiles::write_rows(const Snapshot& snapshot,
                                                               const std::array<int, table_count>& after) {
  bool any = false;
  each_table(snapshot, [&](std::size_t, const auto& table) { any = any || table.size() > 0; });
  if (!any) return std::optional<File>();
  if (auto there = make_folders(rows_folder(folder_)); !there) return there.error();
  if (next_ == 0) {
    for (const fs::path& there : rows_files(folder_)) next_ = std::max(next_, std::atoi(there.stem().c_str()));
    ++next_;
  }
  File made{fmt::format("{:06}.jsonl", next_++)};
  const fs::path place = rows_folder(folder_) / made.name;
  auto file = GrowingFile::open(place);
  if (!file) return file.error();
  std::size_t count = 0;
  each_table(snapshot, [&](std::size_t i, const auto& table) { count += put_rows(*file, names[i], table, after[i]); });
  if (auto finished = file->finish(); !finished) return finished.error();
  if (count == 0) {
    std::error_code ignored;
    fs::remove(place, ignored);
    return std::optional<File>();
  }
  if (auto synced = sync_folder(rows_folder(folder_)); !synced) return synced.error();
  made.bytes = file->bytes();
  made.checksum = file->checksum();
  made.stamps = stamps(snapshot);
  return std::optional(std::move(made));
}

std::string StateFiles::head_text(const Snapshot& snapshot, const std::vector<File>& files) const {
  JsonText text;
  text.begin_object().member("schema", files_schema).member("policy", snapshot.policy_hash()).raw(snapshot.head->members);
  text.key("tables").begin_object();
  each_table(snapshot, [&](std::size_t i, const auto& table) {
    text.key(names[i]).begin_object().member("rows", table.size()).member("width", table.width()).member("now", table.now());
    text.end_object();
  });
  text.end_object().key("files").begin_array();
  for (const File& file : files) {
    text.begin_array().value(file.name).value(file.bytes).value(file.checksum).end_array();
  }
  text.end_array().end_object();
  return seal(text.take());
}

Result<void> StateFiles::write(const Snapshot& snapshot) {
  constexpr int all = std::numeric_limits<int>::min();
  const bool goes_on = continues(snapshot);
  std::array<int, table_count> after{all, all, all};
  if (goes_on) after = {latest_->prompts.now(), latest_->categories.now(), latest_->histories.now()};
  auto made = write_rows(snapshot, after);
  if (!made) return made.error();
  std::vector<File> files = goes_on ? files_ : std::vector<File>();
  if (*made) files.push_back(**made);
  // All rows of a file have later ones where the oldest row of each table is later than the file.
  std::array<int, table_count> oldest{};
  each_table(snapshot, [&](std::size_t i, const auto& table) { oldest[i] = oldest_stamp(table); });
  const auto needed = [&](const File& file) {
    for (std::size_t i = 0; i < table_count; ++i) {
      if (oldest[i] <= file.stamps[i]) return true;
    }
    return false;
  };
  files.erase(files.begin(), std::find_if(files.begin(), files.end(), needed));
  // All that it names is on disk by now, and what only the snapshot before names goes once this is.
  auto replaced = replace_file(folder_ / "state.json", head_text(snapshot, files));
  if (!replaced) return replaced;
  files_ = std::move(files);
  latest_ = Latest{snapshot.head, snapshot.memory.prompts.without_rows(), snapshot.memory.categories.without_rows(),
                   snapshot.histories.without_rows()};
  remove_others();
  return {};
}

void StateFiles::remove_others() const {
  for (const fs::path& there : rows_files(folder_)) {
    const auto is_named = [&](const File& file) { return there.filename() == file.name; };
    std::error_code ignored;
    if (std::none_of(files_.begin(), files_.end(), is_named)) fs::remove(there, ignored);
  }
}

Result<void> StateFiles::link_to(const fs::path& folder) const {
  if (auto made = make_folders(rows_folder(folder)); !made) return made;
  for (const File& file : files_) {
    const fs::path from = rows_folder(folder_) / file.name, to = rows_folder(folder) / file.name;
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (!error) continue;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (error) return Error{fmt::format("Cannot copy {} to {}: {}.", from.string(), to.string(), error.message()), ""};
    if (auto synced = sync_file(to); !synced) return synced;
  }
  if (auto synced = sync_folder(rows_folder(folder)); !synced) return synced;
  const auto text = read_whole(folder_ / "state.json");
  if (!text) return cannot("read", folder_ / "state.json");
  return replace_file(folder / "state.json", *text);
}

namespace {

// The rows of one table as they are read: the latest files first, so the first row of a key stays.
template <typename Value>
struct Reading {
  KeyedRows<Value> rows;
  std::size_t expected = 0;

  explicit Reading(const Json& head)
      : rows(head.at("width").get<std::size_t>(), head.at("now").get<int>()), expected(head.at("rows").get<std::size_t>()) {}
  bool take(const Json& row) {
    const std::string key = row.at(0).get<std::string>();
    const std::vector<Value> values = read_row(row, 2, static_cast<const Value*>(nullptr));
    if (values.size() != rows.width()) return false;
    if (!rows.find(key)) rows.add(key, values, row.at(1).get<int>());
    return true;
  }
  bool whole() const { return rows.size() == expected; }
};

Error broken(const fs::path& file, const std::string& what) {
  return Error{fmt::format("The saved state of the engine is damaged: {} {}.", file.string(), what),
               "put the file back, or resume from an earlier checkpoint"};
}

// One file, as long and with the checksum that `named` tells.
std::optional<Error> read_rows(const fs::path& file, const Json& named, const std::function<bool(const Json&)>& take) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return broken(file, "is missing");
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
  std::string line;
  for (std::int64_t number = 1; std::getline(stream, line); ++number) {
    if (!stream.eof()) line += '\n';
    bytes += line.size();
    checksum = math::crc32c(line, checksum);
    if (line.ends_with('\n')) line.pop_back();
    const Json json = is_sealed(line) ? Json::parse(line, nullptr, false) : Json();
    if (!json.is_object() || !take(json)) return broken(file, fmt::format("is damaged in line {}", number));
  }
  if (bytes != named.at(1).get<std::uint64_t>() || checksum != named.at(2).get<std::uint32_t>()) {
    return broken(file, "is not the file that was written");
  }
  return std::nullopt;
}

Result<ReadSnapshot> read_files(const fs::path& folder, const Json& json, const StatisticsPlan& plan) {
  ReadSnapshot snapshot = read_head(json, plan);
  const Json& tables = json.at("tables");
  Reading<lang::Cell> prompts(tables.at(names[0])), categories(tables.at(names[1]));
  Reading<PromptHistory> histories(tables.at(names[2]));
  const auto take = [&](const Json& line) {
    const std::string table = line.at("table").get<std::string>();
    const auto into = [&](auto& reading) {
      return std::all_of(line.at("rows").begin(), line.at("rows").end(), [&](const Json& row) { return reading.take(row); });
    };
    return table == names[0] ? into(prompts) : table == names[1] ? into(categories) : table == names[2] && into(histories);
  };
  const Json& files = json.at("files");
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    // Only a name: what it says must not lead out of the folder.
    const fs::path name = fs::path(file->at(0).get<std::string>()).filename();
    if (auto error = read_rows(rows_folder(folder) / name, *file, take)) return *std::move(error);
  }
  if (!prompts.whole() || !categories.whole() || !histories.whole()) {
    return broken(folder / "state.json", "names files that do not hold all that was remembered");
  }
  snapshot.rows = ReadSnapshot::Rows{std::move(prompts.rows), std::move(categories.rows)};
  snapshot.histories = std::move(histories.rows);
  return snapshot;
}

}  // namespace

Result<ReadSnapshot> read_state(const fs::path& folder, const StatisticsPlan& plan) {
  const fs::path file = folder / "state.json";
  const auto text = read_whole(file);
  if (!text) return Error{fmt::format("There is no state to go on from: {} is missing.", file.string()), "start a new run"};
  const auto json = read_sealed(*text);
  if (!json) return json.error();
  try {
    if (json->at("schema").get<std::string>() == files_schema) return read_files(folder, *json, plan);
  } catch (const Json::exception&) {
    return broken(file, "has a form that this program does not know");
  }
  return read_snapshot(*text, plan);
}

}  // namespace allot::engine
