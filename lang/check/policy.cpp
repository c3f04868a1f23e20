#include "lang/check/policy.h"

#include <utility>

#include "lang/builtins.h"
#include "lang/check/expressions.h"

namespace allot::lang::checker {

void Policy::error(std::string code, Span span, std::string message, std::string label, std::string help,
                   std::vector<Context> contexts) {
  diagnostics.add({Severity::Error, std::move(code), span, std::move(message), std::move(label), std::move(help),
                   std::move(contexts)});
}

void Policy::warning(std::string code, Span span, std::string message, std::string label, std::string help,
                     std::vector<Context> contexts) {
  diagnostics.add({Severity::Warning, std::move(code), span, std::move(message), std::move(label), std::move(help),
                   std::move(contexts)});
}

NodeId Policy::too_deep_for_stack(Span span) {
  if (first_time("E0007", "stack")) {
    error("E0007", span, "nested deeper than the stack of this thread allows", "", "name the inner parts with `let`");
  }
  return poison;
}

bool Policy::first_time(std::string_view code, std::string_view thing) {
  return told.insert(std::string(code) + " " + std::string(thing)).second;
}

std::string Policy::place(Span span) const {
  const Place place = source.place(span.begin);
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string Policy::text(Span span) const {
  std::string result;
  bool space = false;
  for (const char c : source.text(span)) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      space = !result.empty();
      continue;
    }
    if (space) result += ' ';
    space = false;
    result += c;
  }
  return result;
}

Span Policy::inside(Span span) const {
  const std::string_view all = source.text();
  while (span.begin < span.end && all[span.begin] == '(') {
    std::uint32_t at = span.begin;
    int open = 0;
    for (bool quote = false, comment = false; at < span.end; ++at) {
      const char c = all[at];
      if (comment) {
        comment = c != '\n';
      } else if (quote) {
        if (c == '\\') ++at;
        quote = c != '"';
      } else {
        quote = c == '"';
        comment = c == '#';
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (open == 0) break;
      }
    }
    if (at + 1 != span.end) break;
    ++span.begin;
    --span.end;
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (span.begin < span.end && blank(all[span.begin])) ++span.begin;
    while (span.end > span.begin && blank(all[span.end - 1])) --span.end;
  }
  return span;
}

std::string Policy::variable(Subject subject) const {
  if (const Binding* const here = names.innermost(subject)) return here->name;
  switch (subject) {
    case Subject::Group: return "g";
    case Subject::Rollout: return "r";
    case Subject::Batch: return "b";
    default: return "p";
  }
}

std::string Policy::owner(std::string_view per) const {
  const Binding* const prompt = names.innermost(Subject::Group) ? nullptr : names.innermost(Subject::Prompt);
  if (prompt) return per == "prompt" ? prompt->name : prompt->name + "." + std::string(per);
  return variable(Subject::Group) + "." + std::string(per);
}

std::string near_help(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string match = near_match(name, candidates);
  return match.empty() ? std::string() : "did you mean " + quoted(match) + "?";
}

void warn_of_builtin_name(Policy& policy, const std::string& name, Span span, std::string_view kind) {
  // `size` is also a word of the language for how many rollouts a group has (`prob_mixed(…, size: …)`), and is meant so.
  if (name == "size") return;
  const bool built_in = find_builtin(name) >= 0 || is_statistic(name) || reduction_named(name).has_value() ||
                        name == "draw" || name == "where";
  if (!built_in) return;
  policy.warning("W0104", span, quoted(name) + " is also the name of a built-in function",
                 "this is " + with_article(kind), "choose another name; " + quoted(name + "(…)") + " still calls the function");
}

std::string quoted(std::string_view text) {
  std::string result("`");
  result.append(text);
  result.append("`");
  return result;
}

std::string with_article(std::string_view noun) {
  const bool vowel = !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

}  // namespace allot::lang::checker
