#include "runtime/engine/story.h"

#include <cstdint>

#include <fmt/format.h>

#include "lang/unicode.h"
#include "runtime/engine/journal_chain.h"
#include "runtime/engine/swap_record.h"

namespace allot::engine {

using Json = nlohmann::ordered_json;

namespace {

std::string rounded(std::int64_t count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

}  // namespace

std::string event_words(const Json& record) {
  const std::string kind = record.at("k").get<std::string>();
  const auto number = [&](const char* member) { return record.at(member).get<std::int64_t>(); };
  if (kind == "defer") return fmt::format("group {} waits, for {} at most", number("g"), rounded(number("limit"), "iteration"));
  if (kind == "take_up") {
    return fmt::format("group {} is taken up in slot {}, round {}, {} after it was opened", number("g"), number("slot"),
                       number("round"), rounded(number("age"), "iteration"));
  }
  if (kind == "swap" || kind == "adopt") return swap_words(record);
  if (kind == "replay") return fmt::format("group {} is trained on once more, {} old", number("g"), rounded(number("age"), "iteration"));
  if (kind != "evict") return "";
  const std::string prompt = lang::shown_in_line(record.at("prompt").get<std::string>());
  const Json& until = record.at("until");
  if (until.is_string()) return fmt::format("prompt {} is evicted for good", prompt);
  if (until == 0) return fmt::format("prompt {} may be drawn again", prompt);
  return fmt::format("prompt {} is evicted until epoch {}", prompt, until.get<std::int64_t>());
}

std::string version_words(int version, const std::string& hash) { return fmt::format("version {} ({})", version, hash.substr(0, 12)); }

std::string version_line(const RecordRow& row) {
  const Json& policy = row.record.at("policy");
  const Json set = policy.value("set", Json::object());
  std::string settings;
  for (const auto& [name, value] : set.items()) {
    settings += fmt::format("{}{}={}", settings.empty() ? ", with " : ", ", name, value.get<std::string>());
  }
  const std::string what = fmt::format("the policy {} of {}{}", policy.at("name").get<std::string>(), policy.at("file").get<std::string>(), settings);
  return fmt::format("{:>4}  {} is {}\n", row.iteration, version_words(row.version, row.policy), lang::shown_in_line(what));
}

std::string carried_words(const std::string& carried) {
  return carried == "out" ? "" : fmt::format(" ({}: not carried out)", carried);
}

namespace {

std::string end_line(const Json& record) {
  const Json& metrics = record.at("metrics");
  const auto metric = [&](const char* name) { return metrics.value(name, 0.0); };
  return fmt::format("{:>4}  iteration: {} of {} groups trained on, {} stopped, {} rollouts, {} turns, reward {:.4g} "
                     "(trained on {:.4g}){}\n",
                     record.at("it").get<int>(), metric("groups/trained"), metric("groups/opened"),
                     metric("gate/carried_out"), metric("rollouts/started"), metric("turns"), metric("reward/all"),
                     metric("reward/trained"), record.at("skip_update").get<bool>() ? ", update skipped" : "");
}

Json decision_json(const RecordRow& row) {
  Json json;
  json["iteration"] = row.iteration;
  json["group"] = row.group < 0 ? Json(nullptr) : Json(row.group);
  if (row.sample >= 0) json["sample"] = row.sample;
  json["point"] = row.point;
  json["turn"] = row.turn;
  json["verdict"] = row.verdict;
  json["carried"] = row.carried;
  json["version"] = row.version;
  json["policy"] = row.policy;
  json["rule"] = row.rule;
  json["reason"] = row.reason;
  json["reads"] = row.reads;
  if (row.record.contains("fault")) json["fault"] = row.record.at("fault");
  return json;
}

std::string decision_line(const RecordRow& row) {
  std::string subject = row.group < 0 ? "batch" : fmt::format("group {}", row.group);
  if (row.sample >= 0) subject += fmt::format(" rollout {}", row.sample);
  const std::string by = row.rule + (row.rule.empty() ? "" : ", ") + version_words(row.version, row.policy);
  return fmt::format("{:>4}  {}  on {}: {}{}{}{}  [{}]\n", row.iteration, subject, row.point, row.verdict,
                     row.reason.empty() ? "" : " because \"" + lang::shown_in_line(row.reason) + "\"", carried_words(row.carried),
                     row.fault.empty() ? "" : " FAULT " + row.fault, by);
}

std::string loss_line(const RecordRow& row) {
  const Json& record = row.record;
  std::string text = fmt::format("{:>4}  the loss of {} tokens: rules answered ", row.iteration, record.at("asked").get<std::int64_t>());
  for (std::size_t i = 0; i < record.at("rules").size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", record.at("rules")[i].get<std::int64_t>());
  }
  text += fmt::format(", none {}, faults {}", record.at("none").get<std::int64_t>(), record.at("faults").get<std::int64_t>());
  const std::string fault = record.at("fault").get<std::string>();
  return fmt::format("{}{}  [{}]\n", text, fault.empty() ? "" : ", the first: " + fault, version_words(row.version, row.policy));
}

std::string other_line(const RecordRow& row) {
  if (row.kind == "note") return fmt::format("{:>4}  {}\n", row.iteration, lang::shown_in_line(row.record.at("text").get<std::string>()));
  if (row.kind == "end") return end_line(row.record);
  if (row.kind == "loss") return loss_line(row);
  if (row.kind == "resume") {
    const auto again = row.record.value("again", std::vector<int>());
    return fmt::format("{:>4}  the run was resumed here{}\n", row.iteration, again.empty() ? "" : ": " + again_words(again));
  }
  const std::string event = event_words(row.record);
  return event.empty() ? "" : fmt::format("{:>4}  {}\n", row.iteration, event);
}

}  // namespace

std::string tell_row(const RecordRow& row, StoryFormat format, bool continues) {
  if (row.kind == "decision") {
    if (!row.changed && !continues) return "";
    return format == StoryFormat::Json ? decision_json(row).dump() + "\n" : decision_line(row);
  }
  if (format == StoryFormat::Words) return other_line(row);
  const bool shown = row.kind == "close" || !other_line(row).empty();
  return shown ? row.record.dump() + "\n" : "";
}

std::string tell_problems(const JournalProblems& problems) {
  std::string text;
  for (const std::string& damaged : problems.damaged) text += "warning: " + damaged + "\n";
  return text;
}

Result<std::string> tell_run(const std::filesystem::path& run_folder, StoryFormat format, bool continues,
                             const RowFilter& filter) {
  std::string text;
  auto problems = read_rows(run_folder, [&](const RecordRow& row) {
    if (filter.accepts(row)) text += tell_row(row, format, continues);
  });
  if (!problems) return problems.error();
  return format == StoryFormat::Json ? text : text + tell_problems(*problems);
}

}  // namespace allot::engine
