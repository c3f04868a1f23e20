#include "tests/engine/chained_run.h"

#include <utility>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/math/checksum.h"
#include "tests/engine/journal_lines.h"

namespace allot::engine::bench {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

PlayedRun learning() { return played_run("learning"); }

void play_five(const Folder& folder) {
  play(learning(), folder, 0, 3);
  play(learning(), folder, 3, 5);
  play(learning(), folder, 5, 6);
  play(learning(), folder, 6, 6);
  play(learning(), folder, 6, 8);
}

std::string sum_anew(Lines& lines, std::string before, bool of_the_run_too) {
  std::string checksums;
  const auto sum = [&] { return checksums.empty() ? before : math::sha256_hex(before + checksums); };
  for (std::string& line : lines) {
    Json record = Json::parse(line);
    const bool is_run = record.at("k") == "run";
    if (is_run || record.at("k") == "end") {
      if (is_run && !of_the_run_too) before = record.at("sum").get<std::string>(), checksums.clear();
      before = sum();
      checksums.clear();
      record["sum"] = before;
      line = sealed(record);
    }
    checksums += Json::parse(line).at("crc").get<std::string>();
  }
  return sum();
}

Result<std::unique_ptr<LiveEngine>> open_run(const fs::path& folder) {
  Settings made = settings(3, 4);
  made.run_folder = folder;
  return LiveEngine::create(made, policy_of(learning().policy));
}

std::string refusal(const fs::path& folder, const fs::path& state) {
  auto engine = open_run(folder);
  if (!engine) return engine.error().what;
  auto restored = (*engine)->restore_from(state);
  return restored ? "" : restored.error().what;
}

AuditResult audit(const fs::path& folder, const std::vector<std::string>& kept) {
  auto result = audit_run(folder, kept);
  if (!result) FAIL(result.error().text());
  return *std::move(result);
}

std::vector<RecordRow> rows_of(const Folder& folder, const std::string& kind) {
  std::vector<RecordRow> rows;
  const auto read = read_rows(folder.path(), [&](const RecordRow& row) {
    if (row.kind == kind) rows.push_back(row);
  });
  if (!read) FAIL(read.error().text());
  return rows;
}

std::string all(const std::vector<std::string>& damage) {
  std::string text;
  for (const std::string& line : damage) text += line + "\n";
  return text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace allot::engine::bench
