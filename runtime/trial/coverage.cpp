#include "runtime/trial/coverage.h"

#include <map>
#include <set>

namespace allot::trial {

namespace {

using lang::MemberRule;

std::vector<MemberRule> members(const lang::Handler& handler, const lang::Rule& rule) {
  return rule.members.empty() ? std::vector<MemberRule>{{rule.span, handler.span}} : rule.members;
}

RuleCoverage describe(const lang::Source& source, const MemberRule& rule) {
  const std::string_view handler = source.text(rule.handler);
  return {source.name(rule.rule.begin), source.place(rule.rule.begin).line,
          lang::one_line(handler.substr(0, handler.find('{'))), lang::one_line(source.text(rule.rule)), 0};
}

// Where the rules begin that held in one test.
std::set<std::uint32_t> held_in(const lang::Program& program, const TestReport& report) {
  std::set<std::uint32_t> held;
  for (const auto& [index, rule] : report.fired) {
    const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
    for (const MemberRule& each : members(handler, handler.rules[static_cast<std::size_t>(rule)])) {
      held.insert(each.rule.begin);
    }
  }
  return held;
}

}  // namespace

std::vector<RuleCoverage> coverage(const lang::Program& program, const std::vector<TestReport>& reports) {
  if (!program.source) return {};
  std::map<std::uint32_t, RuleCoverage> rules;  // by the place where they begin
  for (const lang::Handler& handler : program.handlers) {
    for (const lang::Rule& rule : handler.rules) {
      for (const MemberRule& each : members(handler, rule)) {
        rules.try_emplace(each.rule.begin, describe(*program.source, each));
      }
    }
  }
  for (const TestReport& report : reports) {
    for (const std::uint32_t begin : held_in(program, report)) ++rules.at(begin).times;
  }
  std::vector<RuleCoverage> listed;
  for (auto& [begin, rule] : rules) listed.push_back(std::move(rule));
  return listed;
}

}  // namespace allot::trial
