#include "runtime/engine/story.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/program.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/swap_record.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

// A value as a message of the policy shows it.
std::string show(const Json& value) {
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

std::string show_list(const Json& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "" : ", ") + show(value);
  return "[" + text + "]";
}

// One answer of the policy, whether it was written by itself or packed with others.
struct Answered {
  int iteration = 0;
  int group = -1;
  int sample = -1;
  int handler = -1;
  int turn = 0;
  int rule = -1;
  std::string carried;
  Json record;   // reads, columns, states, holes, verdict, fault
  bool changed = true;
};

// The policy as the journal's own header describes it.
class Reader {
 public:
  explicit Reader(const Json& policy) : policy_(policy) {}

  const Json& handler(const Answered& answered) const {
    return policy_.at("handlers").at(static_cast<std::size_t>(answered.handler));
  }
  const Json* rule(const Answered& answered) const {
    if (answered.rule < 0) return nullptr;
    return &handler(answered).at("rules").at(static_cast<std::size_t>(answered.rule));
  }
  std::string where(const Answered& answered) const {
    const Json* const found = rule(answered);
    if (found == nullptr) return "";
    if (found->contains("where")) return found->at("where").get<std::string>();
    return fmt::format("{}:{}", policy_.at("file").get<std::string>(), found->at("line").get<int>());
  }
  std::string source_line(const Answered& answered) const {
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
  // Text and values of the rule's `because`, put together.
  std::string reason(const Answered& answered) const {
    const Json* const found = rule(answered);
    if (found == nullptr) return "";
    const Json holes = answered.record.value("holes", Json::array());
    std::string text;
    for (const Json& part : found->at("because")) {
      if (part.is_string()) {
        text += part.get<std::string>();
      } else if (part.get<std::size_t>() < holes.size()) {
        text += show(holes[part.get<std::size_t>()]);
      }
    }
    return text;
  }
  std::string verdict(const Answered& answered) const {
    if (answered.record.contains("verdict")) return answered.record.at("verdict").get<std::string>();
    const Json* const found = rule(answered);
    return found == nullptr ? "no rule held" : found->at("verdict").get<std::string>();
  }

 private:
  Json policy_;
};

struct Handlers {
  std::function<void(const Answered&, const Reader&)> answered = [](const Answered&, const Reader&) {};
  std::function<void(const Json&)> other = [](const Json&) {};
};

void unpack(const Json& rows, const Reader& reader, const Handlers& handlers) {
  for (std::size_t i = 0; i < rows.at("g").size(); ++i) {
    Answered answered;
    answered.iteration = rows.at("it").get<int>();
    answered.group = rows.at("g")[i].get<int>();
    answered.sample = rows.contains("s") ? rows.at("s")[i].get<int>() : -1;
    answered.handler = rows.at("h").get<int>();
    answered.rule = rows.at("r").get<int>();
    answered.turn = rows.at("t")[i].get<int>();
    answered.carried = rows.at("c")[i].get<std::string>();
    answered.changed = false;
    for (const char* part : {"reads", "columns", "states"}) answered.record[part] = rows.at(part)[i];
    handlers.answered(answered, reader);
  }
}

void read_answer(const Json& record, const Reader& reader, const Handlers& handlers) {
  Answered answered;
  answered.iteration = record.at("it").get<int>();
  answered.group = record.at("g").get<int>();
  answered.sample = record.value("s", -1);
  answered.handler = record.at("h").get<int>();
  answered.turn = record.at("t").get<int>();
  answered.rule = record.at("r").get<int>();
  answered.carried = record.at("c").get<std::string>();
  answered.record = record;
  handlers.answered(answered, reader);
}

// Where a run was resumed, iterations that were under way or lay after the checkpoint were run again: the last telling
// of an iteration counts. Gives, for the n-th `begin` of the journal, whether it is that one.
Result<std::map<int, int>> last_tellings(const std::filesystem::path& folder) {
  std::map<int, int> last;
  int begins = 0;
  auto read = read_journal(folder, [&](const Json& record) {
    if (record.at("k") == "begin") last[record.at("it").get<int>()] = begins++;
    if (record.at("k") == "resume") last.erase(last.lower_bound(record.at("it").get<int>()), last.end());
  });
  if (!read) return read.error();
  return last;
}

Result<JournalProblems> walk(const std::filesystem::path& run_folder, const Handlers& handlers) {
  const std::filesystem::path folder = run_folder / "journal";
  auto last = last_tellings(folder);
  if (!last) return last.error();
  std::map<int, Reader> readers;  // by the number of the version; 0: what a process began with
  int begins = -1;
  bool counts = true;
  try {
    return read_journal(folder, [&](const Json& record) {
      const std::string kind = record.at("k").get<std::string>();
      if (kind == "run") {
        readers.clear();
        if (!record.at("policy").is_null()) readers.emplace(0, Reader(record.at("policy")));
        return;
      }
      if (kind == "version") {
        readers.insert_or_assign(record.at("v").get<int>(), Reader(record.at("policy")));
        return;
      }
      if (kind == "begin") {
        ++begins;
        const auto found = last->find(record.at("it").get<int>());
        counts = found != last->end() && found->second == begins;
      }
      if (!counts) return;
      const auto reader = readers.find(record.value("v", 0));
      if (reader != readers.end() && kind == "ask") {
        read_answer(record, reader->second, handlers);
      } else if (reader != readers.end() && kind == "same") {
        unpack(record, reader->second, handlers);
      } else {
        handlers.other(record);
      }
    });
  } catch (const Json::exception& problem) {  // a good checksum over an unknown form: another version wrote it
    const std::string what =
        fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what());
    return Error{what, "read it with the program that wrote it"};
  }
}

std::string point_words(const Answered& answered, const Reader& reader) {
  return "on " + reader.handler(answered).at("text").get<std::string>();
}

std::string carried_words(const std::string& carried) {
  return carried == "out" ? "" : fmt::format(" ({}: not carried out)", carried);
}

Json answer_json(const Answered& answered, const Reader& reader) {
  Json json;
  json["iteration"] = answered.iteration;
  json["group"] = answered.group < 0 ? Json(nullptr) : Json(answered.group);
  if (answered.sample >= 0) json["sample"] = answered.sample;
  json["point"] = reader.handler(answered).at("text");
  json["turn"] = answered.turn;
  json["verdict"] = reader.verdict(answered);
  json["carried"] = answered.carried;
  json["rule"] = reader.where(answered);
  json["reason"] = reader.reason(answered);
  Json reads = Json::object();
  const Json& handler = reader.handler(answered);
  for (std::size_t i = 0; i < handler.at("reads").size(); ++i) {
    reads[handler.at("reads")[i].get<std::string>()] = answered.record.at("reads")[i];
  }
  for (std::size_t i = 0; i < handler.at("columns").size(); ++i) {
    reads[handler.at("columns")[i].get<std::string>()] = answered.record.at("columns")[i];
  }
  json["reads"] = std::move(reads);
  if (answered.record.contains("fault")) json["fault"] = answered.record.at("fault");
  return json;
}

std::string fault_words(const Answered& answered) {
  if (!answered.record.contains("fault")) return "";
  const Json& fault = answered.record.at("fault");
  return fmt::format(" FAULT {} at {}", fault.at("kind").get<std::string>(), fault.at("where").get<std::string>());
}

std::string answer_line(const Answered& answered, const Reader& reader) {
  const std::string reason = reader.reason(answered);
  std::string subject = answered.group < 0 ? "batch" : fmt::format("group {}", answered.group);
  if (answered.sample >= 0) subject += fmt::format(" rollout {}", answered.sample);
  return fmt::format("{:>4}  {}  {}: {}{}{}{}  [{}]\n", answered.iteration, subject, point_words(answered, reader),
                     reader.verdict(answered), reason.empty() ? "" : " because \"" + reason + "\"",
                     carried_words(answered.carried), fault_words(answered), reader.where(answered));
}

std::string rounded(int count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

// What happened to a group or a prompt beside the answers of the policy; empty for other records.
std::string event_words(const Json& record) {
  const std::string kind = record.at("k").get<std::string>();
  const auto number = [&](const char* member) { return record.at(member).get<int>(); };
  if (kind == "defer") return fmt::format("group {} waits, for {} at most", number("g"), rounded(number("limit"), "iteration"));
  if (kind == "take_up") {
    return fmt::format("group {} is taken up in slot {}, round {}, {} after it was opened", number("g"), number("slot"),
                       number("round"), rounded(number("age"), "iteration"));
  }
  if (kind == "swap" || kind == "adopt") return swap_words(record);
  if (kind == "replay") return fmt::format("group {} is trained on once more, {} old", number("g"), rounded(number("age"), "iteration"));
  if (kind != "evict") return "";
  const std::string prompt = record.at("prompt").get<std::string>();
  const Json& until = record.at("until");
  if (until.is_string()) return fmt::format("prompt {} is evicted for good", prompt);
  if (until == 0) return fmt::format("prompt {} may be drawn again", prompt);
  return fmt::format("prompt {} is evicted until epoch {}", prompt, until.get<std::int64_t>());
}

std::string end_line(const Json& record) {
  const Json& metrics = record.at("metrics");
  const auto metric = [&](const char* name) { return metrics.value(name, 0.0); };
  return fmt::format("{:>4}  iteration: {} of {} groups trained on, {} stopped, {} rollouts, {} turns, reward {:.4g} "
                     "(trained on {:.4g}){}\n",
                     record.at("it").get<int>(), metric("groups/trained"), metric("groups/opened"),
                     metric("gate/carried_out"), metric("rollouts/started"), metric("turns"), metric("reward/all"),
                     metric("reward/trained"), record.at("skip_update").get<bool>() ? ", update skipped" : "");
}

std::string problem_lines(const JournalProblems& problems) {
  std::string text;
  for (const std::string& damaged : problems.damaged) text += "warning: " + damaged + "\n";
  return text;
}

}  // namespace

Result<std::string> tell_run(const std::filesystem::path& run_folder, StoryFormat format, bool continues) {
  std::string text;
  Handlers handlers;
  handlers.answered = [&](const Answered& answered, const Reader& reader) {
    if (!answered.changed && !continues) return;
    text += format == StoryFormat::Json ? answer_json(answered, reader).dump() + "\n" : answer_line(answered, reader);
  };
  handlers.other = [&](const Json& record) {
    const std::string kind = record.at("k").get<std::string>();
    const std::string event = event_words(record);
    const bool shown = kind == "end" || kind == "note" || !event.empty();
    if (format == StoryFormat::Json && (shown || kind == "close")) {
      Json plain = record;
      plain.erase("crc");
      text += plain.dump() + "\n";
    } else if (kind == "note") {
      text += fmt::format("{:>4}  {}\n", record.at("it").get<int>(), record.at("text").get<std::string>());
    } else if (kind == "end") {
      text += end_line(record);
    } else if (!event.empty()) {
      text += fmt::format("{:>4}  {}\n", record.at("it").get<int>(), event);
    }
  };
  auto problems = walk(run_folder, handlers);
  if (!problems) return problems.error();
  return format == StoryFormat::Json ? text : text + problem_lines(*problems);
}

namespace {

std::string answer_paragraph(const Answered& answered, const Reader& reader) {
  const Json& handler = reader.handler(answered);
  const std::string reason = reader.reason(answered);
  std::string text = fmt::format("{}: {}{}{}{}\n", point_words(answered, reader), reader.verdict(answered),
                                 reason.empty() ? "" : " because \"" + reason + "\"", carried_words(answered.carried),
                                 fault_words(answered));
  if (answered.rule >= 0) text += fmt::format("    {}  {}\n", reader.where(answered), reader.source_line(answered));
  for (std::size_t i = 0; i < handler.at("reads").size(); ++i) {
    text += fmt::format("    {} = {}\n", handler.at("reads")[i].get<std::string>(),
                        show(answered.record.at("reads")[i]));
  }
  for (std::size_t i = 0; i < handler.at("columns").size(); ++i) {
    text += fmt::format("    {} = {}\n", handler.at("columns")[i].get<std::string>(),
                        show_list(answered.record.at("columns")[i]));
  }
  for (std::size_t i = 0; i < answered.record.at("states").size(); ++i) {
    text += fmt::format("    state {} = {}\n", handler.at("states")[i].get<std::string>(),
                        show_list(answered.record.at("states")[i]));
  }
  return text;
}

struct Told {
  int iteration = 0;
  int order = 0;  // a turn; of what befalls a whole group, after all turns
  std::string words;
  Json json;
};

std::string open_line(const Json& record) {
  const auto number = [&](const char* member) { return record.at(member).get<int>(); };
  return fmt::format("group {}: prompt {}, iteration {}, slot {}, round {}, {} rollouts planned\n", number("g"),
                     record.at("prompt").get<std::string>(), number("it"), number("slot"), number("round"),
                     number("planned"));
}

std::string close_lines(const Json& record) {
  const std::string rule = record.at("rule").get<std::string>();
  const std::string reason = record.at("reason").get<std::string>();
  std::string text = fmt::format("fate: {}{}{}\n", record.at("fate").get<std::string>(),
                                 rule.empty() ? "" : " by " + rule, reason.empty() ? "" : " because " + reason);
  if (!record.at("subset").empty()) {
    text += fmt::format("    samples {} are trained on, normalized over the {}\n", record.at("subset").dump(),
                        record.at("normalize").get<std::string>());
  }
  for (std::size_t i = 0; i < record.at("status").size(); ++i) {
    text += fmt::format("    rollout {}: {}, {} turns, {} tokens, reward {}\n", i,
                        record.at("status")[i].get<std::string>(), record.at("turns")[i].get<int>(),
                        record.at("tokens")[i].get<std::int64_t>(), show(record.at("reward")[i]));
  }
  return text;
}

}  // namespace

Result<std::string> tell_group(const std::filesystem::path& run_folder, int group, StoryFormat format) {
  std::string opened, closed;
  std::vector<Told> told;
  Json json = {{"group", group}};
  bool found = false;
  int last_group = -1;
  Handlers handlers;
  handlers.answered = [&](const Answered& answered, const Reader& reader) {
    if (answered.group != group) return;
    told.push_back({answered.iteration, answered.turn, answer_paragraph(answered, reader), answer_json(answered, reader)});
  };
  handlers.other = [&](const Json& record) {
    const std::string kind = record.at("k").get<std::string>();
    const bool event = kind != "evict" && !event_words(record).empty();
    if (event && record.value("g", -1) == group) {
      Json plain = record;
      plain.erase("crc");
      const int order = kind == "take_up" ? -1 : std::numeric_limits<int>::max();
      told.push_back({record.at("it").get<int>(), order,
                      fmt::format("iteration {}: {}\n", record.at("it").get<int>(), event_words(record)), std::move(plain)});
    }
    if (kind != "open" && kind != "close") return;
    last_group = std::max(last_group, record.at("g").get<int>());
    if (record.at("g") != group) return;
    found = true;
    Json plain = record;
    plain.erase("crc");
    json[kind] = std::move(plain);
    (kind == "open" ? opened : closed) = kind == "open" ? open_line(record) : close_lines(record);
  };
  auto problems = walk(run_folder, handlers);
  if (!problems) return problems.error();
  if (!found) {
    return Error{fmt::format("The journal of {} tells of no group {}.", run_folder.string(), group),
                 last_group >= 0 ? fmt::format("its groups go up to {}", last_group)
                                 : "no group was closed in this run"};
  }
  // Answers that changed nothing are packed and come at the end of an iteration: back to their places.
  std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) {
    return std::pair(a.iteration, a.order) < std::pair(b.iteration, b.order);
  });
  std::string decisions;
  json["decisions"] = Json::array();
  for (Told& each : told) {
    decisions += each.words;
    json["decisions"].push_back(std::move(each.json));
  }
  if (format == StoryFormat::Json) return json.dump() + "\n";
  if (decisions.empty()) decisions = "the policy was not asked about this group\n";
  return opened + decisions + closed + problem_lines(*problems);
}

}  // namespace allot::engine
