#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "runtime/cli/explanation.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string word(const Json& object, const char* key) { return object.value(key, std::string()); }

std::size_t widest(const Json& list, const char* key) {
  std::size_t width = 0;
  for (const Json& entry : list) width = std::max(width, entry.contains(key) ? value_text(entry[key]).size() : 0);
  return width;
}

void say_head(std::string& text, const Json& document) {
  text += fmt::format("policy {}  ({}, sha256 {})\n", word(document, "policy"), word(document, "file"),
                      word(document, "sha256").substr(0, 12));
  std::istringstream lines(word(document, "doc"));
  for (std::string line; std::getline(lines, line);) text += fmt::format("  {}\n", line);
}

std::string range(const Json& parameter) {
  const Json& low = parameter["low"];
  const Json& high = parameter["high"];
  if (low.is_null() && high.is_null()) return "";
  const auto side = [](const Json& bound) { return bound.is_null() ? std::string() : fmt::format("{}", bound.get<double>()); };
  return fmt::format(" in {}..{}", side(low), side(high));
}

void say_parameters(std::string& text, const Json& document) {
  const Json& parameters = document["parameters"];
  text += parameters.empty() ? "\nparameters: none\n" : "\nparameters (change one with --set NAME=VALUE)\n";
  const std::size_t names = widest(parameters, "name");
  const std::size_t values = widest(parameters, "value");
  for (const Json& parameter : parameters) {
    const bool changed = parameter["value"] != parameter["default"];
    text += fmt::format("  {:<{}} = {:<{}}   {}{}{}\n", word(parameter, "name"), names, value_text(parameter["value"]), values,
                        word(parameter, "type"), range(parameter),
                        changed ? fmt::format(", by default {}", value_text(parameter["default"])) : "");
    if (parameter.contains("doc")) text += fmt::format("  {:<{}}   {}\n", "", names, word(parameter, "doc"));
  }
}

void say_handler(std::string& text, const Json& handler) {
  text += fmt::format("\non {}  ({})\n", word(handler, "text"), word(handler, "where"));
  text += fmt::format("  asked    {}{}\n", word(handler, "asked"),
                      handler.contains("number") ? fmt::format(": {}", word(handler, "number")) : "");
  const Json& reads = handler["reads"];
  const std::size_t width = widest(reads, "text");
  for (std::size_t i = 0; i < reads.size(); ++i) {
    text += fmt::format("  {:<8} {:<{}}  {}{}\n", i == 0 ? "reads" : "", word(reads[i], "text"), width,
                        word(reads[i], "type"), reads[i].contains("measured") ? ", measured" : "");
    if (reads[i].contains("statistic")) text += fmt::format("  {:<8} {}\n", "", word(reads[i], "statistic"));
  }
  if (reads.empty()) text += "  reads    nothing\n";
  for (const char* list : {"rules", "effects"}) {
    for (std::size_t i = 0; i < handler[list].size(); ++i) {
      const Json& rule = handler[list][i];
      const std::string where = rule.contains("where") ? word(rule, "where") : fmt::format("line {}", rule["line"].get<int>());
      text += fmt::format("  {:<8} {}: {}\n", i == 0 ? (list[0] == 'r' ? "rules" : "then") : "", where,
                          word(rule, "text"));
    }
  }
  for (const Json& allotment : handler.value("allots", Json::array())) {
    text += fmt::format("  allots   {}: {}; the budget that it leaves is not spent\n", word(allotment, "where"),
                        word(allotment, "solved_by"));
  }
  text += fmt::format("  left out {}\n", word(handler, "left_out"));
  text += fmt::format("  at most  {} evaluations (n rollouts of the group, g groups, p prompts, t turns{})\n",
                      word(handler, "worst_cost"), handler.contains("allots") ? ", u units allotted" : "");
}

void say_defaults(std::string& text, const Json& document) {
  const Json& defaults = document["defaults"];
  if (!defaults.empty()) text += "\npoints without a handler\n";
  for (const Json& each : defaults) text += fmt::format("  {:<8} {}\n", word(each, "point"), word(each, "holds"));
}

void say_state(std::string& text, const Json& document) {
  const Json& states = document["state"];
  if (!states.empty()) text += "\nstate\n";
  for (const Json& state : states) {
    text += fmt::format("  {}: {} per {} = {}, written {}; {} bytes a {} at offset {}{}\n", word(state, "name"),
                        word(state, "type"), word(state, "per"), word(state, "initial"), word(state, "written"),
                        state["bytes"].get<int>(), word(state, "per"), state["offset_bytes"].get<int>(),
                        state.contains("decay") ? fmt::format(", decay {}", state["decay"].get<double>()) : "");
  }
}

void say_declarations(std::string& text, const Json& document) {
  text += "\n";
  if (document.contains("hit")) text += fmt::format("hit      {}\n", word(document, "hit"));
  for (const Json& budget : document["budgets"]) {
    text += fmt::format("budget   {} {} per {}{}\n", budget["amount"].get<long long>(), word(budget, "unit"),
                        word(budget, "per"), budget["carry_over"].get<bool>() ? ", carried over" : "");
  }
  if (const Json& refill = document["refill"]; !refill.is_null()) {
    text += fmt::format("refill   at most {} rounds, then {}\n", refill["rounds"].get<long long>(), word(refill, "then"));
  }
  text += fmt::format("flat     at least two scored rewards that differ by at most {}\n",
                      document["flat_within"].get<double>());
  const Json& measured = document["audit_only_because"];
  if (measured.empty()) {
    text += "replay   the same order of events gives the same verdicts\n";
  } else {
    std::string reads;
    for (const Json& read : measured) reads += (reads.empty() ? "" : ", ") + read.get<std::string>();
    text += fmt::format("replay   audit-only: recorded verdicts can be checked, but not repeated, for it reads {}\n", reads);
  }
}

void say_examples(std::string& text, const Json& document) {
  if (!document.contains("examples")) return;
  text += fmt::format("\nexample groups of {} rollouts, {} turns each\n", document["example_rollouts"].get<int>(),
                      document["example_turns"].get<int>());
  for (const Json& example : document["examples"]) {
    const std::string fate = word(example, "fate");
    text += fmt::format("  {}\n    -> {}{}, {} of {} turns{}{}\n", word(example, "description"), fate,
                        fate == "trained" ? fmt::format(" on {} rollouts", example["trained_on"].get<int>()) : "",
                        example["turns"].get<int>(),
                        example["started"].get<int>() * document["example_turns"].get<int>(),
                        word(example, "reason").empty() ? "" : ": " + word(example, "reason"),
                        word(example, "rule").empty() ? "" : fmt::format("  ({})", word(example, "rule")));
  }
}

}  // namespace

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

std::string explanation_text(const Json& document) {
  std::string text;
  say_head(text, document);
  say_parameters(text, document);
  for (const Json& handler : document["handlers"]) say_handler(text, handler);
  say_defaults(text, document);
  say_state(text, document);
  say_declarations(text, document);
  say_examples(text, document);
  return text;
}

}  // namespace allot::cli
