// Tests, as far as the text alone tells: names, fields and settings. What they expect is found by running them.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "lang/check/declarations.h"
#include "lang/check/points.h"
#include "lang/check/records.h"

namespace allot::lang::checker {
namespace {

void check_settings(Policy& policy, const std::vector<tree::Setting>& settings) {
  std::vector<std::string> names = policy.tree.unread;
  for (const tree::Param& param : policy.tree.params) names.push_back(param.name.text);
  for (const Parameter& parameter : policy.program.parameters) names.push_back(parameter.name);
  std::set<std::string> seen;
  for (const tree::Setting& setting : settings) {
    const std::string& name = setting.name.text;
    if (!seen.insert(name).second) policy.error("E0102", setting.name.span, quoted(name) + " is set twice");
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      policy.error("E0101", setting.name.span, "there is no parameter " + quoted(name), "", near_help(name, names));
      continue;
    }
    for (const Parameter& parameter : policy.program.parameters) {
      if (parameter.name != name) continue;
      Type wanted = parameter.type;
      if (parameter.low) wanted.prob = false;  // the range is checked below
      const auto value = constant(policy, setting.value, wanted, quoted(name));
      if (!value || !parameter.low || !parameter.high) continue;
      within(policy, *value, parameter.type, *parameter.low, *parameter.high, policy.tree[setting.value].span,
             quoted(name));
    }
  }
}

int depth_of_lists(const Policy& policy, tree::ExprId id) {
  const tree::Expr& expr = policy.tree[id];
  return expr.kind == tree::ExprKind::List && !expr.args.empty() ? 1 + depth_of_lists(policy, expr.args.front()) : 0;
}

// One value, or for state per prompt a list with one for each prompt of a record.
void check_state(Policy& policy, const State& state, tree::ExprId value) {
  const int one = state.type.matrix() ? 2 : state.type.vector() ? 1 : 0;
  const std::string name = quoted(state.name);
  if (!check_written_out(policy, value)) return;
  if (state.scope != StateScope::Prompt || depth_of_lists(policy, value) <= one) {
    (void)constants(policy, value, state.type, name);
    return;
  }
  for (const tree::ExprId each : policy.tree[value].args) (void)constants(policy, each, state.type, name);
}

// What can be given a value, each once: state and inputs, those that could not be read and those of members too.
std::vector<std::string> given_names(const Policy& policy) {
  std::set<std::string> names(policy.tree.unread.begin(), policy.tree.unread.end());
  for (const tree::StateDecl& state : policy.tree.states) names.insert(state.name.text);
  for (const tree::InputDecl& input : policy.tree.inputs) names.insert(input.name.text);
  for (const State& state : policy.program.states) names.insert(state.name);
  return {names.begin(), names.end()};
}

// Points that a handler answers, each once.
std::vector<std::string> answered_points(const Policy& policy) {
  std::set<std::string> points;
  for (const tree::Handler& handler : policy.tree.handlers) points.insert(handler.point);
  for (const Handler& handler : policy.program.handlers) points.emplace(name(handler.point));
  return {points.begin(), points.end()};
}

void check_givens(Policy& policy, const tree::TestDecl& test) {
  const std::vector<std::string> states = given_names(policy);
  std::set<std::string> seen;
  for (const tree::Given& given : test.givens) {
    if (!seen.insert(given.name.text).second) {
      policy.error("E0102", given.name.span, quoted(given.name.text) + " is given twice");
    }
    const tree::Expr& value = policy.tree[given.value];
    if (value.kind == tree::ExprKind::Record && is_record(value.text)) {
      check_record(policy, value);
      continue;
    }
    for (const State& state : policy.program.states) {
      if (state.name == given.name.text) check_state(policy, state, given.value);
    }
    if (std::find(states.begin(), states.end(), given.name.text) != states.end()) continue;
    const auto& params = policy.tree.params;
    if (std::any_of(params.begin(), params.end(), [&](const auto& param) { return param.name.text == given.name.text; })) {
      policy.error("E0320", given.name.span, quoted(given.name.text) + " is a parameter, and those are set", "",
                   "write `with " + given.name.text + " = " + policy.text(given.value) + "`");
      continue;
    }
    const std::string near = near_help(given.name.text, states);
    policy.error("E0320", given.name.span, quoted(given.name.text) + " is no state, and what is given no record", "",
                 near.empty() ? "write `given g = group { … }`, `batch { … }`, `pool { … }`, `rollout { … }`, `micro_batch { … "
                                "}`, or a value for a state"
                              : near);
  }
}

// Nothing would tell which of two answers is meant.
void check_fields(Policy& policy, const tree::Verdict& verdict) {
  std::set<std::string> seen;
  for (const tree::Action& action : verdict.actions) {
    std::string what(words(field(action.kind)));
    if (action.kind == tree::ActionKind::Set) what = action.target;
    if (action.kind == tree::ActionKind::Readmit && action.third != tree::none) what = "who is readmitted";
    if (seen.insert(what).second) continue;
    policy.error("E0305", action.span, "the expected verdict says twice " + std::string(words(field(action.kind))), "",
                 "keep one of the two");
  }
}

void check_expect(Policy& policy, const tree::TestDecl& test, const tree::Expect& expect) {
  if (expect.point.empty()) return;
  check_fields(policy, expect.verdict);
  std::vector<std::string> records;
  for (const tree::Given& given : test.givens) records.push_back(given.name.text);
  if (std::find(records.begin(), records.end(), expect.subject.text) == records.end()) {
    const std::string near = near_help(expect.subject.text, records);
    policy.error("E0101", expect.subject.span, "nothing is given as " + quoted(expect.subject.text), "",
                 near.empty() ? "write `given " + expect.subject.text + " = group { … }`" : near);
  }
  if (policy.unread) return;
  const std::vector<std::string> points = answered_points(policy);
  if (std::find(points.begin(), points.end(), expect.point) != points.end()) return;
  policy.error("E0320", expect.span, "this policy has no handler for " + quoted(expect.point), "",
               near_help(expect.point, points));
}

void check_keyed_givens(Policy& policy, const tree::ScenarioDecl& scenario) {
  const std::vector<std::string> states = given_names(policy);
  for (const tree::KeyedGiven& given : scenario.givens) {
    const bool state = std::find(states.begin(), states.end(), given.name.text) != states.end();
    if (given.name.text == "category" && given.key != tree::none && !state) continue;  // of a prompt of the pool
    if (!state) {
      const std::string near = near_help(given.name.text, states);
      policy.error("E0320", given.name.span, quoted(given.name.text) + " is no state", "",
                   near.empty() ? "a scenario is given state and inputs: `given belief[\"a\"] = beta(2, 1)`" : near);
    }
    for (const State& state : policy.program.states) {
      if (state.name != given.name.text) continue;
      if (state.keyed() != (given.key != tree::none)) {
        policy.error("E0319", given.name.span, quoted(state.name) + (state.keyed() ? " has a value for each prompt" : " has one value alone"),
                     "", state.keyed() ? "say whose: `given " + state.name + "[\"a\"] = …`" : "write `given " + state.name + " = …`");
      }
      if (!check_written_out(policy, given.value)) continue;
      (void)constants(policy, given.value, state.type, quoted(state.name));
    }
  }
}

// `spent`, `left.tokens` and their like are of a budget, which must be there; a state of that name comes first.
void check_ledger_name(Policy& policy, tree::ExprId id) {
  const tree::Expr& e = policy.tree[id];
  const tree::Expr& word = e.kind == tree::ExprKind::Field ? policy.tree[e.args[0]] : e;
  constexpr std::array<std::string_view, 4> words{"spent", "left", "reserved", "total"};
  if (word.kind != tree::ExprKind::Name || std::find(words.begin(), words.end(), word.text) == words.end()) return;
  const std::string unit = e.kind == tree::ExprKind::Field ? e.text : "";
  const std::string name = unit.empty() ? word.text : word.text + "." + unit;
  const std::vector<std::string> states = given_names(policy);
  if (std::find(states.begin(), states.end(), name) != states.end()) return;
  for (const Budget& budget : policy.program.budgets) {
    if (unit.empty() || lang::name(budget.unit) == unit) return;
  }
  constexpr std::array<std::string_view, 4> units{"rollouts", "tokens", "calls", "seconds"};
  if (!unit.empty() && std::find(units.begin(), units.end(), unit) == units.end()) return;
  if (!policy.first_time("E0316", "ledger " + unit)) return;
  policy.error("E0316", e.span, unit.empty() ? "no budget is declared" : "no budget in " + unit + " is declared", "",
               "add  budget 1_000 " + (unit.empty() ? "rollouts" : unit) + " per run");
}

// All names that a condition of a scenario looks at, however deep.
void check_condition(Policy& policy, tree::ExprId condition) {
  if (policy.unread || policy.program.budgets.size() < policy.tree.budgets.size()) return;
  std::vector<tree::ExprId> open{condition};
  while (!open.empty()) {
    const tree::ExprId id = open.back();
    open.pop_back();
    const tree::Expr& e = policy.tree[id];
    check_ledger_name(policy, id);
    const bool dotted = e.kind == tree::ExprKind::Field && policy.tree[e.args[0]].kind == tree::ExprKind::Name;
    if (!dotted) open.insert(open.end(), e.args.rbegin(), e.args.rend());
  }
}

void check_iteration(Policy& policy, const tree::Iteration& iteration) {
  std::vector<std::string> groups;
  for (const tree::ScenarioGroup& group : iteration.groups) {
    if (std::find(groups.begin(), groups.end(), group.name.text) != groups.end()) {
      policy.error("E0102", group.name.span, "group " + quoted(group.name.text) + " stands twice in one iteration");
    }
    groups.push_back(group.name.text);
  }
  for (const tree::ScenarioExpect& expect : iteration.expects) {
    if (expect.condition != tree::none) {
      check_condition(policy, expect.condition);
      continue;
    }
    if (std::find(groups.begin(), groups.end(), expect.group.text) == groups.end()) {
      const std::string near = near_help(expect.group.text, groups);
      policy.error("E0101", expect.group.span, "there is no group " + quoted(expect.group.text) + " in this iteration", "",
                   near.empty() ? "write `group " + expect.group.text + ": rewards …`" : near);
    }
    check_fields(policy, expect.verdict);
    const std::vector<std::string> points = answered_points(policy);
    if (expect.point.empty() || policy.unread ||
        std::find(points.begin(), points.end(), expect.point) != points.end()) {
      continue;
    }
    policy.error("E0320", expect.span, "this policy has no handler for " + quoted(expect.point), "",
                 near_help(expect.point, points));
  }
}

void check_scenario(Policy& policy, const tree::ScenarioDecl& scenario) {
  check_settings(policy, scenario.settings);
  check_keyed_givens(policy, scenario);
  std::set<std::string> seen;
  for (const tree::HostSetting& host : scenario.host) {
    if (!seen.insert(host.name.text).second) {
      policy.error("E0102", policy.tree[host.values.front()].span, quoted(host.name.text) + " is set twice");
    }
  }
  std::size_t expects = 0;
  for (const tree::Iteration& iteration : scenario.iterations) {
    check_iteration(policy, iteration);
    expects += iteration.expects.size();
  }
  if (expects > 0) return;
  policy.error("E0320", {scenario.span.begin, scenario.span.begin + 8}, "this scenario expects nothing", "",
               "write `iteration { group a: rewards 1, 0  expect a is trained }`");
}

// `allot test --filter` and reports name tests by their titles.
void check_titles(Policy& policy) {
  std::map<std::string, Span> known;
  const auto check = [&](const auto& declaration, std::string_view word) {
    const std::size_t quote = policy.source.text(declaration.span).find('"');
    const auto begin = declaration.span.begin + static_cast<std::uint32_t>(quote);
    const Span title{begin, begin + static_cast<std::uint32_t>(declaration.title.size()) + 2};
    const auto [first, fresh] = known.emplace(declaration.title, title);
    if (fresh) return;
    policy.error("E0102", title, "this " + std::string(word) + " has the title of another", "", "give it one of its own",
                 {{first->second, "the first one"}});
  };
  for (const tree::TestDecl& test : policy.tree.tests) check(test, "test");
  for (const tree::ScenarioDecl& scenario : policy.tree.scenarios) check(scenario, "scenario");
}

}  // namespace

void check_tests(Policy& policy) {
  check_titles(policy);
  for (const tree::ScenarioDecl& scenario : policy.tree.scenarios) check_scenario(policy, scenario);
  for (const tree::TestDecl& test : policy.tree.tests) {
    check_settings(policy, test.settings);
    check_givens(policy, test);
    for (const tree::Expect& expect : test.expects) check_expect(policy, test, expect);
    if (test.expects.empty()) {
      policy.error("E0320", {test.span.begin, test.span.begin + 4}, "this test expects nothing", "",
                   "write `expect finish(g) is drop`, or a condition: `expect g.flat`");
    }
  }
}

}  // namespace allot::lang::checker
