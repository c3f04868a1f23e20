#include "runtime/engine/record_rows.h"

#include <fmt/format.h>

namespace allot::engine {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t shortest_hash = 8;

// Rows of no prompt have empty words for it, and a prompt may be "".
bool names_prompt(const RecordRow& row) { return row.group >= 0 || row.record.contains("prompt"); }

}  // namespace

const std::vector<std::string>& row_kinds() {
  static const std::vector<std::string> kinds{"adopt",  "begin",  "close", "decision", "defer", "end",     "events", "evict",
                                              "loss",   "note",   "open",  "pool",     "replay", "resume", "run",    "start",
                                              "swap",   "take_up", "version"};
  return kinds;
}

RowMaker::RowMaker(Use use)
    : use_(std::move(use)),
      reader_([this](const Answered& answered, const RecordedPolicy& policy) { answer(answered, policy); },
              [this](const Json& record) { other(record); }) {}

void RowMaker::answer(const Answered& answered, const RecordedPolicy& policy) {
  RecordRow row;
  row.kind = "decision";
  row.iteration = answered.iteration;
  row.group = answered.group;
  row.sample = answered.sample;
  row.turn = answered.turn;
  if (const auto found = prompts_.find(answered.group); found != prompts_.end()) row.prompt = found->second;
  const Json& handler = policy.handler(answered);
  row.point = handler.at("text").get<std::string>();
  row.version = answered.version;
  row.policy = policy.hash();
  row.rule = policy.where(answered);
  row.verdict = policy.verdict(answered);
  row.carried = answered.carried;
  row.reason = policy.reason(answered);
  if (answered.record.contains("fault")) {
    const Json& fault = answered.record.at("fault");
    row.fault = fmt::format("{} at {}", fault.at("kind").get<std::string>(), fault.at("where").get<std::string>());
  }
  row.changed = answered.changed;
  for (const char* part : {"reads", "columns"}) {
    for (std::size_t i = 0; i < handler.at(part).size(); ++i) {
      row.reads[handler.at(part)[i].get<std::string>()] = answered.record.at(part)[i];
    }
  }
  row.record = answered.record;
  row.record.erase("crc");
  use_(row);
}

// The version that a record is about, where it is about one.
void RowMaker::read_version(const Json& record, RecordRow& row) {
  const auto policy = record.find("policy");
  if (row.kind == "run" && policy->is_object()) row.version = 0;
  if (row.kind == "version" || row.kind == "swap") row.version = record.at("v").get<int>();
  if (row.kind == "loss") row.version = record.value("v", 0);
  if (row.kind == "adopt") row.version = record.at("to").get<int>();
  if (row.kind == "swap" && row.version == 0) row.version = -1;  // it never came to be one
  if (row.version < 0) return;
  if (policy != record.end()) hashes_[row.version] = policy->at("hash").get<std::string>();
  if (const auto known = hashes_.find(row.version); known != hashes_.end()) row.policy = known->second;
}

void RowMaker::other(const Json& record) {
  RecordRow row;
  row.kind = record.at("k").get<std::string>();
  row.iteration = record.value("it", -1);
  if (record.contains("g") && record.at("g").is_number()) row.group = record.at("g").get<int>();
  if (row.kind == "open") prompts_[row.group] = record.at("prompt").get<std::string>();
  if (record.contains("prompt")) {
    row.prompt = record.at("prompt").get<std::string>();
  } else if (const auto found = prompts_.find(row.group); found != prompts_.end()) {
    row.prompt = found->second;
  }
  read_version(record, row);
  if (row.kind == "close") {
    row.fate = record.at("fate").get<std::string>();
    row.rule = record.at("rule").get<std::string>();
    row.reason = record.at("reason").get<std::string>();
  }
  row.record = record;
  row.record.erase("crc");
  use_(row);
}

Result<JournalProblems> read_rows(const std::filesystem::path& run_folder, const RowMaker::Use& use) {
  RowMaker maker(use);
  return read_records(run_folder, maker.reader());
}

bool RowFilter::has_iteration(int iteration) const {
  return !iterations || (iteration >= iterations->first && iteration <= iterations->second);
}

bool RowFilter::accepts(const RecordRow& row) const {
  if (!has_iteration(row.iteration)) return false;
  if (group && row.group != *group) return false;
  if (prompt && (row.prompt != *prompt || !names_prompt(row))) return false;
  if (kind && row.kind != *kind) return false;
  const bool by_hash = version && version->size() >= shortest_hash;
  if (by_hash && !row.policy.starts_with(*version)) return false;
  if (version && !by_hash && (row.version < 0 || fmt::format("{}", row.version) != *version)) return false;
  if (!rule) return true;
  return row.rule == *rule || row.rule.ends_with(":" + *rule) || row.rule.ends_with("/" + *rule);
}

}  // namespace allot::engine
