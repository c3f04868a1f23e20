#include "runtime/engine/records.h"

#include <map>
#include <sstream>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "lang/program.h"
#include "runtime/engine/journal_chain.h"

namespace allot::engine {

using Json = nlohmann::ordered_json;

std::string show_value(const Json& value) {
  lang::Type type;
  if (value.is_null()) return lang::show(lang::Cell::undefined(), type);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) {
    type.base = lang::Base::Bool;
    return lang::show(lang::Cell::of(value.get<bool>()), type);
  }
  if (value.is_number_integer()) {
    type.base = lang::Base::Int;
    return lang::show(lang::Cell::of(value.get<std::int64_t>()), type);
  }
  if (value.is_number()) return lang::show(lang::Cell::of(value.get<double>()), type);
  if (value.is_array() && value.size() == 2) {
    type.base = lang::Base::Beta;
    return lang::show(lang::Cell::beta(value[0].get<double>(), value[1].get<double>()), type);
  }
  return value.dump();
}

std::string show_values(const Json& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "" : ", ") + show_value(value);
  return "[" + text + "]";
}

const Json& RecordedPolicy::handler(const Answered& answered) const {
  return policy_.at("handlers").at(static_cast<std::size_t>(answered.handler));
}

const Json* RecordedPolicy::rule(const Answered& answered) const {
  if (answered.rule < 0) return nullptr;
  return &handler(answered).at("rules").at(static_cast<std::size_t>(answered.rule));
}

std::string RecordedPolicy::point(const Answered& answered) const {
  return "on " + handler(answered).at("text").get<std::string>();
}

std::string RecordedPolicy::where(const Answered& answered) const {
  const Json* const found = rule(answered);
  if (found == nullptr) return "";
  if (found->contains("where")) return found->at("where").get<std::string>();
  return fmt::format("{}:{}", policy_.at("file").get<std::string>(), found->at("line").get<int>());
}

std::string RecordedPolicy::source_line(const Answered& answered) const {
  const Json* const found = rule(answered);
  if (found == nullptr) return "";
  std::string line;
  if (found->contains("text")) {
    line = found->at("text").get<std::string>();
  } else {
    std::istringstream lines(policy_.at("source").get<std::string>());
    for (int number = found->at("line").get<int>(); number > 0; --number) std::getline(lines, line);
  }
  const std::size_t start = line.find_first_not_of(" \t");
  return start == std::string::npos ? "" : line.substr(start);
}

std::string RecordedPolicy::reason(const Answered& answered) const {
  const Json* const found = rule(answered);
  if (found == nullptr) return "";
  const Json holes = answered.record.value("holes", Json::array());
  const Json names = answered.record.value("names", Json::array());
  std::string text;
  for (const Json& part : found->at("because")) {
    if (part.is_string()) {
      text += part.get<std::string>();
    } else if (const auto hole = part.get<std::size_t>(); hole < names.size() && names[hole].is_string()) {
      text += names[hole].get<std::string>();
    } else if (hole < holes.size()) {
      text += show_value(holes[hole]);
    }
  }
  return text;
}

std::string RecordedPolicy::verdict(const Answered& answered) const {
  if (answered.record.contains("verdict")) return answered.record.at("verdict").get<std::string>();
  const Json* const found = rule(answered);
  return found == nullptr ? "no rule held" : found->at("verdict").get<std::string>();
}

void RecordReader::read(const Json& record) {
  const std::string kind = record.at("k").get<std::string>();
  if (kind == "run") {
    policies_.clear();
    if (!record.at("policy").is_null()) policies_.emplace(0, RecordedPolicy(record.at("policy")));
  }
  if (kind == "version") policies_.insert_or_assign(record.at("v").get<int>(), RecordedPolicy(record.at("policy")));
  const auto policy = policies_.find(record.value("v", 0));
  if (policy != policies_.end() && kind == "ask") {
    read_answer(record, policy->second);
  } else if (policy != policies_.end() && kind == "same") {
    unpack(record, policy->second);
  } else {
    other_(record);
  }
}

void RecordReader::unpack(const Json& rows, const RecordedPolicy& policy) {
  for (std::size_t i = 0; i < rows.at("g").size(); ++i) {
    Answered answered;
    answered.iteration = rows.at("it").get<int>();
    answered.version = rows.value("v", 0);
    answered.group = rows.at("g")[i].get<int>();
    answered.sample = rows.contains("s") ? rows.at("s")[i].get<int>() : -1;
    answered.handler = rows.at("h").get<int>();
    answered.rule = rows.at("r").get<int>();
    answered.turn = rows.at("t")[i].get<int>();
    answered.carried = rows.at("c")[i].get<std::string>();
    answered.changed = false;
    for (const char* part : {"reads", "columns", "states"}) answered.record[part] = rows.at(part)[i];
    answer_(answered, policy);
  }
}

void RecordReader::read_answer(const Json& record, const RecordedPolicy& policy) {
  Answered answered;
  answered.iteration = record.at("it").get<int>();
  answered.version = record.value("v", 0);
  answered.group = record.at("g").get<int>();
  answered.sample = record.value("s", -1);
  answered.handler = record.at("h").get<int>();
  answered.turn = record.at("t").get<int>();
  answered.rule = record.at("r").get<int>();
  answered.carried = record.at("c").get<std::string>();
  answered.record = record;
  answer_(answered, policy);
}

namespace {

// The tellings of iterations, one a `begin` of the journal, and those on which the run stands at its end. An iteration may
// be told several times, each time from where a `resume` went on: the end it names, or the last one before its iteration.
class Tellings {
 public:
  void read(const JournalLine& line) {
    const std::string kind = line.record.at("k").get<std::string>();
    if (kind == "begin") {
      go_back_before(line.record.at("it").get<int>());
      tellings_.push_back({line.record.at("it").get<int>(), at_, false});
      at_ = static_cast<int>(tellings_.size()) - 1;
    } else if (kind == "end" && at_ >= 0) {
      tellings_[static_cast<std::size_t>(at_)].ended = true;
      ends_[sum_with(line.text)] = at_;
    } else if (kind == "resume") {
      const auto stood = ends_.find(line.record.value("from", ""));
      if (stood != ends_.end()) at_ = stood->second;
      go_back_before(line.record.at("it").get<int>());
    }
  }

  void choose() {
    for (int n = at_; n >= 0; n = tellings_[static_cast<std::size_t>(n)].before) {
      tellings_[static_cast<std::size_t>(n)].counts = true;
    }
  }
  bool counts(std::size_t n) const { return n < tellings_.size() && tellings_[n].counts; }
  // Whether it came to its end, and then the run went back before it.
  bool left(std::size_t n) const { return n < tellings_.size() && tellings_[n].ended && !tellings_[n].counts; }

 private:
  struct Telling {
    int iteration = 0;
    int before = -1;  // the telling that it went on from; −1: none
    bool ended = false;
    bool counts = false;
  };
  void go_back_before(int iteration) {
    while (at_ >= 0 && tellings_[static_cast<std::size_t>(at_)].iteration >= iteration) {
      at_ = tellings_[static_cast<std::size_t>(at_)].before;
    }
  }

  std::vector<Telling> tellings_;
  std::unordered_map<std::string, int> ends_;  // by their sums
  int at_ = -1;
};

}  // namespace

Result<JournalProblems> read_records(const std::filesystem::path& run_folder, RecordReader& reader) {
  const std::filesystem::path folder = run_folder / "journal";
  try {
    Tellings tellings;
    auto looked = read_lines(folder, [&](const JournalLine& line) { tellings.read(line); });
    if (!looked) return looked.error();
    tellings.choose();
    std::size_t begins = 0;
    bool counts = true;
    return read_journal(folder, [&](const Json& record) {
      const std::string kind = record.at("k").get<std::string>();
      counts = counts || kind == "run";  // what a process tells before its first iteration
      if (kind == "begin") counts = tellings.counts(begins++);
      const bool goes_on = kind == "resume" && tellings.counts(begins);
      counts = counts || goes_on;
      if (kind == "resume" && tellings.left(begins)) return;
      if (counts || kind == "run" || kind == "version") reader.read(record);
    });
  } catch (const Json::exception& problem) {  // a good checksum over an unknown form: another version wrote it
    const std::string what =
        fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what());
    return Error{what, "read it with the program that wrote it"};
  }
}

}  // namespace allot::engine
