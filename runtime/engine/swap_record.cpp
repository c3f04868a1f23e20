#include "runtime/engine/swap_record.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/json_text.h"

namespace allot::engine {

namespace {

std::string swap_record(const SwapReport& report, bool again) {
  JsonText text;
  text.begin_object().member("k", "swap").member("it", report.iteration).member("ticket", report.ticket);
  text.member("by", report.by).member("outcome", name(report.outcome)).member("from", report.from).member("to", report.to);
  if (!report.parameters.empty()) text.member("set", report.parameters);
  text.member("v", report.version).member("reason", report.reason);
  text.key("state").begin_object();
  text.member("kept", report.state.kept).member("migrated", report.state.migrated);
  text.member("started", report.state.started).member("dropped", report.state.dropped).end_object();
  text.member("groups_moved", report.groups_moved).member("groups_restarted", report.groups_restarted);
  text.member("now", report.now);
  if (report.canary > 0) text.member("canary", report.canary);
  if (report.back) text.member("back", *report.back == StateOf::Then ? "then" : "now");
  if (again) text.member("again", true);
  text.member("seconds", report.seconds).end_object();
  return text.take();
}

}  // namespace

std::string swap_record(const SwapReport& report) { return swap_record(report, false); }
std::string swap_told_again(const SwapReport& report) { return swap_record(report, true); }

std::string adopt_record(int iteration, int group, int from, int to, StatePlan::Carried state) {
  constexpr std::string_view words[] = {"kept", "migrated", "restarted"};
  JsonText text;
  text.begin_object().member("k", "adopt").member("it", iteration).member("g", group).member("from", from).member("to", to);
  text.member("state", words[static_cast<std::size_t>(state)]).end_object();
  return text.take();
}

namespace {

// The first line; where that only announces what follows, what follows too. Help is for who asked.
std::string in_one_line(std::string_view reason) {
  std::string line(reason.substr(0, reason.find('\n')));
  if (!line.ends_with(':')) return line;
  for (std::string_view rest = reason.substr(line.size()), between = " "; !rest.empty(); between = "; ") {
    rest.remove_prefix(std::min(rest.find_first_not_of("\n "), rest.size()));
    const std::string_view next = rest.substr(0, rest.find('\n'));
    if (next.empty() || next.starts_with("help:")) break;
    line += between;
    line += next;
    rest.remove_prefix(next.size());
  }
  return line;
}

}  // namespace

std::string swap_words(const nlohmann::ordered_json& record) {
  const auto text = [&](const char* member) { return record.at(member).get<std::string>(); };
  if (text("k") == "adopt") {
    return fmt::format("group {} goes on under version {}, its own state {}", record.at("g").get<int>(), record.at("to").get<int>(),
                       text("state") == "restarted" ? "begun anew" : text("state"));
  }
  const std::string from = text("from").substr(0, 12), outcome = text("outcome");
  const std::string to = policy_words(text("to"), record.value("set", std::map<std::string, std::string>()));
  const std::string reason = text("reason").empty() ? "" : ": " + in_one_line(text("reason"));
  const int version = record.at("v").get<int>();
  if (outcome == "active") return fmt::format("{}: version {} ({}) takes the place of {}{}", text("by"), version, to, from, reason);
  if (outcome == "canary") return fmt::format("{}: version {} ({}) is tried beside {}{}", text("by"), version, to, from, reason);
  return fmt::format("{}: {} {}{}", text("by"), to.empty() ? "a policy" : to, outcome, reason);
}

}  // namespace allot::engine
