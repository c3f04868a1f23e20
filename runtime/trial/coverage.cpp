#include "runtime/trial/coverage.h"

#include <set>
#include <utility>

namespace allot::trial {

namespace {

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
  }
  return line;
}

}  // namespace

std::vector<RuleCoverage> coverage(const lang::Program& program, const std::vector<TestReport>& reports) {
  std::vector<RuleCoverage> rules;
  for (std::size_t i = 0; i < program.handlers.size(); ++i) {
    const lang::Handler& handler = program.handlers[i];
    for (std::size_t j = 0; j < handler.rules.size(); ++j) {
      RuleCoverage rule;
      rule.handler = static_cast<int>(i);
      rule.rule = static_cast<int>(j);
      rule.line = handler.rules[j].line;
      rule.point = "on " + handler.text;
      if (program.source) rule.text = on_one_line(program.source->text(handler.rules[j].span));
      for (const TestReport& report : reports) rule.times += report.fired.contains({rule.handler, rule.rule});
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

}  // namespace allot::trial
