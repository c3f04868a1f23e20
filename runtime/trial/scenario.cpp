#include "runtime/trial/scenario.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/trial/record.h"
#include "runtime/trial/scenario_expect.h"
#include "runtime/trial/scenario_start.h"
#include "runtime/trial/script.h"

namespace allot::trial {
namespace {

namespace tree = lang::tree;

class Scenario {
 public:
  Scenario(const lang::Program& program, const tree::ScenarioDecl& scenario, bool native)
      : program_(program), tree_(*program.tree), scenario_(scenario), native_(native) {}

  TestReport run() {
    TestReport report;
    report.title = scenario_.title;
    report.line = line(scenario_.span);
    auto begun = start(program_, scenario_, native_, allowance_);
    if (!begun) {
      report.error = begun.error().text();
      return report;
    }
    start_ = *std::move(begun);
    note_answers();
    Script script(*start_.engine, start_.tokens);
    report.passed = true;
    for (std::size_t i = 0; i < scenario_.iterations.size() && report.error.empty(); ++i) {
      const tree::Iteration& iteration = scenario_.iterations[i];
      if (auto played = play(script, static_cast<int>(i), iteration); !played) {
        report.error = fmt::format("iteration {} (line {}): {}", i, line(iteration.span), played.error().text());
        break;
      }
      const PlayedIteration ended{program_, start_.parameters, *start_.engine, report_, script.courses(), answers_};
      for (const tree::ScenarioExpect& expect : iteration.expects) {
        report.expects.push_back(check_expect(ended, expect, allowance_));
      }
    }
    report.fired = std::move(fired_);
    report.passed = report.error.empty() && std::all_of(report.expects.begin(), report.expects.end(),
                                                         [](const ExpectReport& each) { return each.passed; });
    return report;
  }

 private:
  int line(lang::Span span) const { return program_.source->place(span.begin).line; }

  void note_answers() {
    start_.engine->observe([this](const engine::Decision& decision, const engine::LiveGroup& group, int turn) {
      const lang::Handler& handler = program_.handlers[static_cast<std::size_t>(decision.handler)];
      const int number = handler.point == lang::Point::Turn ? turn : group.log.wave;
      answers_.push_back({decision.handler, group.log.prompt, number, decision.verdict,
                          decision.fault ? decision.fault->text : ""});
    });
  }

  Result<Part> read(const tree::ScenarioGroup& group) {
    Part part;
    part.prompt = group.name.text;
    for (const tree::Score& score : group.scores) {
      part.kinds.push_back(score.kind);
      part.rewards.push_back(0);
      if (score.kind != tree::Score::Kind::Reward) continue;
      auto value = literal(tree_, score.reward, allowance_);
      if (!value) return value.error();
      if (value->kind != Value::Kind::Int && value->kind != Value::Kind::Real) {
        return Error{"a reward is a number, `?` or `!`", ""};
      }
      part.rewards.back() = value->kind == Value::Kind::Int ? static_cast<double>(value->integer) : value->real;
    }
    if (group.actions == tree::none) return part;
    auto actions = literal(tree_, group.actions, allowance_);
    if (!actions) return actions.error();
    for (const Value& rollout : actions->items) {
      part.actions.emplace_back();
      for (const Value& action : rollout.items) part.actions.back().push_back(action.text);
    }
    if (actions->kind != Value::Kind::List || part.actions.empty()) {
      return Error{"`actions` is a list for each rollout, of texts", "for example [[\"look\", \"go\"]] * 4"};
    }
    return part;
  }

  Result<void> play(Script& script, int index, const tree::Iteration& iteration) {
    answers_.clear();
    std::vector<Part> parts;
    std::vector<std::string> prompts;
    for (const tree::ScenarioGroup& group : iteration.groups) {
      auto part = read(group);
      if (!part) return part.error();
      prompts.push_back(part->prompt);
      parts.push_back(*std::move(part));
    }
    if (!start_.pool.empty()) prompts = start_.pool;
    if (auto played = script.play(index, prompts, parts); !played) return played;
    auto report = start_.engine->end_iteration();
    if (!report) return without_actions(parts) ? Result<void>(silent()) : Result<void>(report.error());
    report_ = *std::move(report);
    note_fired();
    if (start_.pool.empty()) return {};
    // What was opened goes to the end of the pool.
    const std::vector<std::string> unused = start_.engine->unused_prompts();
    std::vector<std::string> opened;
    for (const std::string& prompt : start_.pool) {
      if (std::find(unused.begin(), unused.end(), prompt) == unused.end()) opened.push_back(prompt);
    }
    start_.pool = unused;
    start_.pool.insert(start_.pool.end(), opened.begin(), opened.end());
    return {};
  }

  static bool without_actions(const std::vector<Part>& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.actions.empty(); });
  }

  // The engine takes a policy on turns that is never asked for a mistake of the host; here it is the scenario's.
  Error silent() const {
    return {fmt::format("policy {} decides while rollouts take turns, and none is written", program_.name),
            "write `actions [[\"look\", \"go\"]] * 2;` before the rewards of a group"};
  }

  // Rules that answered in this iteration.
  void note_fired() {
    const std::vector<std::vector<std::int64_t>> rules = start_.engine->rules_fired();
    for (std::size_t handler = 0; handler < rules.size(); ++handler) {
      for (std::size_t rule = 0; rule < rules[handler].size(); ++rule) {
        if (rules[handler][rule] > 0) fired_.emplace(static_cast<int>(handler), static_cast<int>(rule));
      }
    }
  }

  const lang::Program& program_;
  const tree::File& tree_;
  const tree::ScenarioDecl& scenario_;
  bool native_;
  ScenarioStart start_;
  std::vector<ScenarioAnswer> answers_;  // of this iteration
  engine::IterationReport report_;
  std::set<std::pair<int, int>> fired_;
  Allowance allowance_;
};

bool same(const TestReport& a, const TestReport& b) {
  if (a.error != b.error || a.expects.size() != b.expects.size()) return false;
  for (std::size_t i = 0; i < a.expects.size(); ++i) {
    if (a.expects[i].got != b.expects[i].got || a.expects[i].passed != b.expects[i].passed) return false;
  }
  return true;
}

}  // namespace

std::vector<TestReport> run_scenarios(const lang::Program& program, const Options& options) {
  std::vector<TestReport> reports;
  for (const tree::ScenarioDecl& scenario : program.tree->scenarios) {
    if (scenario.title.find(options.only) == std::string::npos) continue;
    TestReport report = Scenario(program, scenario, false).run();
    if (options.native && report.passed && !same(report, Scenario(program, scenario, true).run())) {
      report.passed = false;
      report.error = "the machine code decides otherwise than the evaluator: this is a mistake of allot, please report it "
                     "with the policy";
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace allot::trial
