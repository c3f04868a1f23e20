#include "runtime/engine/auditing.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/asking_again.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/policy_record.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

// The members of a record that follow from its frame.
constexpr std::array answer_members = {"r",       "verdict",    "amounts", "up_to",  "where",  "subset",     "age_limit",
                                       "until",   "evicted",    "readmitted", "taken", "scores", "reward",  "advantages",
                                       "weights", "baselines",  "holes",   "keys",   "fault"};

std::string shown(const Json& record, const char* member) {
  return record.contains(member) ? record.at(member).dump() : "nothing";
}

// The first member in which two answers differ; the words of a verdict say more than the number of its rule.
const char* first_difference(const Json& recorded, const Json& again) {
  const char* found = nullptr;
  for (const char* member : answer_members) {
    if (shown(recorded, member) == shown(again, member)) continue;
    if (found == nullptr || std::string_view(found) == "r") found = member;
    if (std::string_view(member) != "r") break;
  }
  return found;
}

class Auditor {
 public:
  void read(const JournalLine& line) {
    const Json& record = line.record;
    const std::string kind = record.at("k").get<std::string>();
    if (kind == "run") {
      chain_.restart();
      stretch_ = line.place();
      unsummed_ = 0;
      asking_.clear();
      load(0, record.at("policy"));
    }
    if (kind == "version") load(record.at("v").get<int>(), record.at("policy"));
    if (kind == "end") check_sum(line);
    chain_.add(line.text);
    ++unsummed_;
    if (kind == "end") {
      ++result_.iterations;
      unsummed_ = 0;
    }
    if (kind == "ask") check_answer(line);
    if (kind == "same") check_packed(line);
    if (kind == "loss") check_losses(line);
  }

  AuditResult result(const JournalProblems& problems) {
    result_.versions = static_cast<std::int64_t>(hashes_.size());
    result_.unsummed = unsummed_;
    result_.cut_lines = problems.cut_lines;
    result_.damage.insert(result_.damage.begin(), problems.damaged.begin(), problems.damaged.end());
    return std::move(result_);
  }

  const std::optional<Error>& failure() const { return failure_; }

 private:
  // Records name the version that answered by its number, the one a process began with by none.
  void load(int version, const Json& record) {
    if (record.is_null() || failure_) return;
    auto policy = read_policy_record(record);
    if (!policy) {
      failure_ = policy.error();
      return;
    }
    asking_[version] = std::make_unique<AskingAgain>(*std::move(policy));
  }

  void check_sum(const JournalLine& line) {
    if (!line.record.contains("sum")) return;
    const std::string recorded = line.record.at("sum").get<std::string>();
    const std::string found = chain_.sum();
    if (found != recorded) {
      result_.damage.push_back(
          fmt::format("{} to {} (iteration {}): a line was changed, added or taken out since it was written: the sum of "
                      "these lines is {}, {} was recorded.",
                      stretch_, line.place(), line.record.at("it").get<int>(), found.substr(0, 12), recorded.substr(0, 12)));
    }
    chain_.restart(recorded);
    result_.sum = recorded;
    stretch_ = line.place();
  }

  // Each token was answered by one rule, by none, or with a fault.
  void check_losses(const JournalLine& line) {
    const Json& record = line.record;
    const auto asked = record.at("asked").get<std::int64_t>();
    std::int64_t sum = record.at("none").get<std::int64_t>() + record.at("faults").get<std::int64_t>();
    for (const Json& count : record.at("rules")) sum += count.get<std::int64_t>();
    result_.loss_tokens += asked;
    ++result_.loss_iterations;
    Difference about{line.place(), record.at("it").get<int>(), -1, -1, 0, "on loss of token"};
    const auto version = asking_.find(record.value("v", 0));
    if (version != asking_.end()) {
      about.policy = version->second->policy().program().hash;
      hashes_.insert(about.policy);
    }
    if (sum == asked) return;
    about.member = "asked";
    about.recorded = fmt::format("{}", asked);
    about.again = fmt::format("{}, the sum over its rules", sum);
    differs(std::move(about));
  }

  void check_answer(const JournalLine& line) {
    static const Json none;
    const Json& record = line.record;
    const int group = record.at("g").get<int>();
    Difference about{line.place(), record.at("it").get<int>(), group, record.value("s", -1), record.at("t").get<int>()};
    const RecordedFrame frame{record.contains("sizes") ? record.at("sizes") : none, record.at("reads"), record.at("columns"),
                              record.at("states")};
    check(std::move(about), record, frame, record, false);
  }

  void check_packed(const JournalLine& line) {
    static const Json none;
    const Json& rows = line.record;
    const Json recorded{{"r", rows.at("r")}};
    for (std::size_t i = 0; i < rows.at("g").size(); ++i) {
      Difference about{line.place(), rows.at("it").get<int>(), rows.at("g").at(i).get<int>(),
                       rows.contains("s") ? rows.at("s").at(i).get<int>() : -1, rows.at("t").at(i).get<int>()};
      const RecordedFrame frame{rows.contains("sizes") ? rows.at("sizes").at(i) : none, rows.at("reads").at(i),
                                rows.at("columns").at(i), rows.at("states").at(i)};
      check(std::move(about), rows, frame, recorded, true);
    }
  }

  void check(Difference about, const Json& record, const RecordedFrame& frame, const Json& recorded, bool packed) {
    if (asking_.empty()) return;
    ++result_.audited;
    const auto version = asking_.find(record.value("v", 0));
    try {
      if (version == asking_.end()) throw std::invalid_argument("there is no policy of that number");
      AskingAgain& asking = *version->second;
      const int handler = record.at("h").get<int>();
      about.policy = asking.policy().program().hash;
      hashes_.insert(about.policy);
      about.point = "on " + asking.policy().program().handlers.at(static_cast<std::size_t>(handler)).text;
      const Json again = asking.ask(handler, frame, about.group >= 0);
      if (packed) {  // recorded is the rule alone, and that nothing changed
        if (again.at("r") == recorded.at("r") && asking.changed_nothing()) return;
        about.member = again.contains("verdict") ? "verdict" : "r";
        about.recorded = fmt::format("rule {}, which changes nothing", recorded.at("r").dump());
      } else {
        const char* const member = first_difference(recorded, again);
        if (member == nullptr) return;
        about.member = member;
        about.recorded = shown(recorded, member);
      }
      about.again = shown(again, about.member.c_str());
    } catch (const std::exception& problem) {
      about.member = "reads";
      about.recorded = "values that this question cannot have";
      about.again = problem.what();
    }
    differs(std::move(about));
  }

  void differs(Difference about) {
    ++result_.differing;
    if (!result_.first) result_.first = std::move(about);
  }

  AuditResult result_;
  std::map<int, std::unique_ptr<AskingAgain>> asking_;  // by the number of the version
  std::set<std::string> hashes_;
  std::optional<Error> failure_;
  LineChain chain_;
  std::string stretch_;  // where the lines begin that the next sum covers
  std::int64_t unsummed_ = 0;
};

}  // namespace

Result<AuditResult> audit_run(const std::filesystem::path& run_folder) {
  const std::filesystem::path folder = run_folder / "journal";
  Auditor auditor;
  try {
    auto problems = read_lines(folder, [&](const JournalLine& line) { auditor.read(line); });
    if (!problems) return problems.error();
    if (auditor.failure()) return *auditor.failure();
    return auditor.result(*problems);
  } catch (const Json::exception& problem) {  // a good checksum over an unknown form: another version wrote it
    return Error{fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what()),
                 "read it with the program that wrote it"};
  }
}

}  // namespace allot::engine
