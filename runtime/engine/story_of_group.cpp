// The story of one group.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/unicode.h"
#include "runtime/engine/story.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

Json answer_json(const Answered& answered, const RecordedPolicy& policy) {
  Json json;
  json["iteration"] = answered.iteration;
  json["group"] = answered.group < 0 ? Json(nullptr) : Json(answered.group);
  if (answered.sample >= 0) json["sample"] = answered.sample;
  json["point"] = policy.handler(answered).at("text");
  json["turn"] = answered.turn;
  json["verdict"] = policy.verdict(answered);
  json["carried"] = answered.carried;
  json["version"] = answered.version;
  json["policy"] = policy.hash();
  json["rule"] = policy.where(answered);
  json["reason"] = policy.reason(answered);
  Json reads = Json::object();
  const Json& handler = policy.handler(answered);
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

std::string answer_paragraph(const Answered& answered, const RecordedPolicy& policy) {
  const Json& handler = policy.handler(answered);
  const std::string reason = policy.reason(answered);
  std::string text = fmt::format("{}: {}{}{}{}, {}\n", policy.point(answered), policy.verdict(answered),
                                 reason.empty() ? "" : " because \"" + lang::shown_in_line(reason) + "\"", carried_words(answered.carried),
                                 fault_words(answered), version_words(answered.version, policy.hash()));
  if (answered.rule >= 0) text += fmt::format("    {}  {}\n", policy.where(answered), policy.source_line(answered));
  for (std::size_t i = 0; i < handler.at("reads").size(); ++i) {
    text += fmt::format("    {} = {}\n", handler.at("reads")[i].get<std::string>(),
                        show_value(answered.record.at("reads")[i]));
  }
  for (std::size_t i = 0; i < handler.at("columns").size(); ++i) {
    text += fmt::format("    {} = {}\n", handler.at("columns")[i].get<std::string>(),
                        show_values(answered.record.at("columns")[i]));
  }
  for (std::size_t i = 0; i < answered.record.at("states").size(); ++i) {
    text += fmt::format("    state {} = {}\n", handler.at("states")[i].get<std::string>(),
                        show_values(answered.record.at("states")[i]));
  }
  return text;
}

struct Told {
  int iteration = 0;
  int stage = 0;  // times that the group was taken up before
  int order = 0;  // a turn; of what befalls a whole group, after all turns
  std::string words;
  Json json;
};

std::string open_line(const Json& record) {
  const auto number = [&](const char* member) { return record.at(member).get<int>(); };
  return fmt::format("group {}: prompt {}, iteration {}, slot {}, round {}{}, {} rollouts planned\n", number("g"),
                     lang::shown_in_line(record.at("prompt").get<std::string>()), number("it"), number("slot"), number("round"),
                     number("round") > 1 ? " (a refill)" : "", number("planned"));
}

std::string close_lines(const Json& record) {
  const std::string rule = record.at("rule").get<std::string>();
  const std::string reason = record.at("reason").get<std::string>();
  std::string text = fmt::format("fate: {}{}{}\n", record.at("fate").get<std::string>(),
                                 rule.empty() ? "" : " by " + rule, reason.empty() ? "" : " because " + lang::shown_in_line(reason));
  if (record.at("cut_by_budget").get<bool>()) text += "    the budget could not cover all of its rollouts and turns\n";
  if (record.at("held_out").get<bool>()) text += "    held out: it ran to its end although a stop was said\n";
  if (!record.at("subset").empty()) {
    text += fmt::format("    samples {} are trained on, normalized over the {}\n", record.at("subset").dump(),
                        record.at("normalize").get<std::string>());
  }
  for (std::size_t i = 0; i < record.at("status").size(); ++i) {
    text += fmt::format("    rollout {}: {}, {} turns, {} tokens, reward {}\n", i,
                        record.at("status")[i].get<std::string>(), record.at("turns")[i].get<int>(),
                        record.at("tokens")[i].get<std::int64_t>(), show_value(record.at("reward")[i]));
  }
  return text;
}

std::tuple<int, int, int> place_of(const Json& opened) {
  return {opened.at("it").get<int>(), opened.at("slot").get<int>(), opened.at("round").get<int>()};
}

Json plain(const Json& record) {
  Json json = record;
  json.erase("crc");
  return json;
}

// Collects what the records of a run say of one group.
class GroupStory {
 public:
  explicit GroupStory(int group) : group_(group) { json_["group"] = group; }

  void answer(const Answered& answered, const RecordedPolicy& policy) {
    if (answered.group != group_) return;
    told_.push_back({answered.iteration, stage_, answered.turn, answer_paragraph(answered, policy),
                     answer_json(answered, policy)});
  }

  void other(const Json& record) {
    const std::string kind = record.at("k").get<std::string>();
    const bool event = kind != "evict" && !event_words(record).empty();
    if (event && record.value("g", -1) == group_) befall(record, kind);
    if (kind != "open" && kind != "close") return;
    last_group_ = std::max(last_group_, record.at("g").get<int>());
    if (kind == "open" && found_ && place_of(record) == refill_) {
      closed_ += fmt::format("slot {} was filled again by group {}, prompt {}\n", std::get<1>(refill_),
                             record.at("g").get<int>(), lang::shown_in_line(record.at("prompt").get<std::string>()));
      json_["refilled_by"] = record.at("g");
    }
    if (record.at("g") != group_) return;
    if (kind == "open") {
      refill_ = place_of(record);
      ++std::get<2>(refill_);
    }
    found_ = true;
    json_[kind] = plain(record);
    (kind == "open" ? opened_ : closed_) = kind == "open" ? open_line(record) : close_lines(record);
  }

  bool found() const { return found_; }
  int last_group() const { return last_group_; }  // of the whole run; -1: none was opened

  std::string tell(StoryFormat format, const JournalProblems& problems) && {
    // Answers that changed nothing are packed and come at the end of an iteration: back to their places.
    std::stable_sort(told_.begin(), told_.end(), [](const Told& a, const Told& b) {
      return std::tuple(a.iteration, a.stage, a.order) < std::tuple(b.iteration, b.stage, b.order);
    });
    std::string decisions;
    json_["decisions"] = Json::array();
    for (Told& each : told_) {
      decisions += each.words;
      json_["decisions"].push_back(std::move(each.json));
    }
    if (format == StoryFormat::Json) return json_.dump() + "\n";
    if (decisions.empty()) decisions = "the policy was not asked about this group\n";
    return opened_ + decisions + closed_ + tell_problems(problems);
  }

 private:
  void befall(const Json& record, const std::string& kind) {
    const int order = kind == "take_up" ? -1 : std::numeric_limits<int>::max();
    stage_ += kind == "take_up";
    const int iteration = record.at("it").get<int>();
    told_.push_back({iteration, stage_, order, fmt::format("iteration {}: {}\n", iteration, event_words(record)),
                     plain(record)});
  }

  int group_;
  std::string opened_, closed_;
  std::vector<Told> told_;
  Json json_;
  std::tuple<int, int, int> refill_{-1, -1, -1};  // iteration, slot and round of the group that would come after it
  bool found_ = false;
  int last_group_ = -1;
  int stage_ = 0;
};

}  // namespace

Result<std::string> tell_group(const std::filesystem::path& run_folder, int group, StoryFormat format) {
  GroupStory story(group);
  RecordReader reader([&](const Answered& answered, const RecordedPolicy& policy) { story.answer(answered, policy); },
                      [&](const Json& record) { story.other(record); });
  auto problems = read_records(run_folder, reader);
  if (!problems) return problems.error();
  if (!story.found()) {
    return Error{fmt::format("The journal of {} tells of no group {}.", run_folder.string(), group),
                 story.last_group() >= 0 ? fmt::format("its groups go up to {}", story.last_group())
                                         : "no group was closed in this run"};
  }
  return std::move(story).tell(format, *problems);
}

}  // namespace allot::engine
