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
#include "runtime/engine/journal_chain.h"
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
      check_segment(line);
      asking_.clear();
      load(0, record.at("policy"));
    }
    if (kind == "version") load(record.at("v").get<int>(), record.at("policy"));
    if (const auto told = told_sum(record)) check_sum(line, *told);
    chain_.add(line.text);
    ++unsummed_;
    if (kind == "resume") check_origin(line);
    if (kind == "end") {
      ++result_.iterations;
      unsummed_ = 0;
      result_.sum = chain_.sum_so_far();
      ends_.insert(result_.sum);
    }
    if (kind == "ask") check_answer(line);
    if (kind == "same") check_packed(line);
    if (kind == "loss") check_losses(line);
  }

  // That the journal held these ends.
  void demand(const std::vector<Acknowledged>& states, const std::vector<std::string>& kept) {
    result_.states = static_cast<int>(states.size());
    for (const auto& [file, mark] : states) {
      if (ends_.contains(mark.sum)) continue;
      damaged(fmt::format("journal/{:06}.jsonl: {} stands on an iteration that ended there with the sum {}, and none did: lines "
                          "were changed or cut off its end, or it is gone.",
                          mark.segment, file, mark.sum.substr(0, 12)));
    }
    for (const std::string& sum : kept) {
      if (ends_.contains(sum)) continue;
      damaged(fmt::format("No iteration ended with the sum {}, which was kept: what was before was changed, or it was cut off.",
                          sum.substr(0, 12)));
    }
  }

  AuditResult result(const JournalProblems& problems, const std::vector<std::string>& missing) {
    result_.damage.insert(result_.damage.begin(), missing.begin(), missing.end());
    result_.versions = static_cast<std::int64_t>(versions_.size());
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

  void damaged(std::string what) { result_.damage.push_back(std::move(what)); }

  // A process writes a segment, or several, of its own.
  void check_segment(const JournalLine& line) {
    const int number = line.record.value("segment", 0);
    if (number == 0 || line.file.stem() == fmt::format("{:06}", number)) return;
    damaged(fmt::format("{}: it was written as segment {}: a segment was copied, or put in the place of another one.",
                        line.place(), number));
  }

  void check_sum(const JournalLine& line, const ToldSum& told) {
    const std::string found = chain_.sum();
    if (told.anew) {
      result_.unchained += !stretch_.empty();
    } else if (found != told.sum) {
      const auto shown = [](const std::string& sum) { return sum.empty() ? "that of no lines" : sum.substr(0, 12); };
      const bool is_end = line.record.contains("it");
      damaged(fmt::format("{} to {} ({}): a line {}was changed, added or taken out since it was written: the sum of these lines "
                          "is {}, {} was recorded.",
                          stretch_.empty() ? "the beginning" : stretch_, line.place(),
                          is_end ? fmt::format("iteration {}", line.record.at("it").get<int>()) : "up to where a process began",
                          is_end ? "" : "or a segment ", shown(found), shown(told.sum)));
    }
    chain_.restart(told.sum);
    stretch_ = line.place();
    unsummed_ = 0;
  }

  // A process goes on from an end of this journal; the first one may come from another folder's.
  void check_origin(const JournalLine& line) {
    const std::string from = line.record.value("from", "");
    if (from.empty() || ends_.contains(from)) return;
    if (!ends_.empty()) {
      return damaged(fmt::format("{}: the run went on from an iteration that ended with the sum {}, and none did before.",
                                 line.place(), from.substr(0, 12)));
    }
    result_.from = from;
    ends_.insert(from);
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
      versions_.insert(version->first);
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
      versions_.insert(version->first);
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
  std::set<int> versions_;  // that decided, by their numbers: the same text may come again with other parameters
  std::optional<Error> failure_;
  LineChain chain_;
  std::set<std::string> ends_;  // the sums up to each end of an iteration, and with it
  std::string stretch_;  // where the lines begin that the next sum covers
  std::int64_t unsummed_ = 0;
};

}  // namespace

Result<AuditResult> audit_run(const std::filesystem::path& run_folder, const std::vector<std::string>& kept) {
  const std::filesystem::path folder = run_folder / "journal";
  Auditor auditor;
  try {
    const std::vector<Acknowledged> states = acknowledged(run_folder);  // first: a run that goes on writes them last
    auto problems = read_lines(folder, [&](const JournalLine& line) { auditor.read(line); });
    if (!problems) return problems.error();
    if (auditor.failure()) return *auditor.failure();
    auditor.demand(states, kept);
    return auditor.result(*problems, missing_segments(folder));
  } catch (const Json::exception& problem) {  // a good checksum over an unknown form: another version wrote it
    return Error{fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what()),
                 "read it with the program that wrote it"};
  }
}

}  // namespace allot::engine
