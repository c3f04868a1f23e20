#include "runtime/trial/scenario.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/trial/claims.h"
#include "runtime/trial/expected.h"
#include "runtime/trial/record.h"
#include "runtime/trial/script.h"
#include "runtime/trial/view.h"

namespace allot::trial {
namespace {

using lang::Cell;
namespace tree = lang::tree;

class Scenario {
 public:
  Scenario(const lang::Program& program, const tree::ScenarioDecl& scenario, bool native)
      : program_(program), tree_(*program.tree), scenario_(scenario), native_(native) {}

  TestReport run() {
    TestReport report;
    report.title = scenario_.title;
    report.line = line(scenario_.span);
    if (auto ready = prepare(); !ready) {
      report.error = ready.error().text();
      return report;
    }
    Script script(*engine_, tokens_);
    report.passed = true;
    for (std::size_t i = 0; i < scenario_.iterations.size() && report.error.empty(); ++i) {
      const tree::Iteration& iteration = scenario_.iterations[i];
      if (auto played = play(script, static_cast<int>(i), iteration); !played) {
        report.error = fmt::format("iteration {} (line {}): {}", i, line(iteration.span), played.error().text());
        break;
      }
      for (const tree::ScenarioExpect& expect : iteration.expects) report.expects.push_back(check(script, expect));
    }
    report.fired = std::move(fired_);
    report.passed = report.error.empty() && std::all_of(report.expects.begin(), report.expects.end(),
                                                         [](const ExpectReport& each) { return each.passed; });
    return report;
  }

 private:
  struct Answer {
    int handler = -1;
    std::string prompt;
    int number = 0;        // turn or wave
    engine::Verdict verdict;
    std::string fault;
  };

  int line(lang::Span span) const { return program_.source->place(span.begin).line; }

  // ---- before the first iteration

  Result<void> prepare() {
    std::map<std::string, std::string> set;
    for (const tree::Setting& setting : scenario_.settings) {
      set[setting.name.text] = std::string(program_.source->text(tree_[setting.value].span));
    }
    auto parameters = lang::bind(program_, set);
    if (!parameters) return parameters.error();
    parameters_ = *std::move(parameters);
    auto program = std::make_shared<lang::Program>(program_);
    settings_.slots = 1;
    settings_.group_size = usual_size();
    settings_.native = false;
    settings_.clock = [] { return 0.0; };  // or a budget of seconds would come out differently each time
    settings_.host = {.defers = true, .shapes = true, .replays = true, .branches = false, .scores = true};
    for (const tree::HostSetting& host : scenario_.host) {
      if (auto taken = take(host, *program); !taken) return taken;
    }
    for (const tree::KeyedGiven& given : scenario_.givens) {
      if (auto taken = is_category(given) ? take_category(given) : take_input(given); !taken) return taken;
    }
    for (const lang::State& state : program_.states) {
      if (state.input) settings_.inputs[state.name];
    }
    auto executable = compiler::evaluate(*program);
#ifdef ALLOT_HAS_NATIVE
    if (native_) {
      auto code = compiler::compile(*program);
      if (!code) return code.error();
      executable = *std::move(code);
    }
#endif
    auto policy = std::make_shared<engine::Policy>(std::move(program), parameters_, std::move(executable));
    auto engine = engine::LiveEngine::create(settings_, std::move(policy));
    if (!engine) return engine.error();
    engine_ = *std::move(engine);
    if (!pool_.empty()) {
      std::vector<engine::PoolPrompt> prompts;
      for (const std::string& prompt : pool_) prompts.push_back({prompt, categories_[prompt]});
      if (auto known = engine_->set_pool(std::move(prompts)); !known) return known;
    }
    engine_->observe([this](const engine::Decision& decision, const engine::LiveGroup& group, int turn) {
      const lang::Handler& handler = program_.handlers[static_cast<std::size_t>(decision.handler)];
      const int number = handler.point == lang::Point::Turn ? turn : group.log.wave;
      answers_.push_back({decision.handler, group.log.prompt, number, decision.verdict,
                          decision.fault ? decision.fault->text : ""});
    });
    for (const tree::KeyedGiven& given : scenario_.givens) {
      if (is_category(given)) continue;
      if (auto taken = take_state(given); !taken) return taken;
    }
    return {};
  }

  // As many rollouts as the first group has scores.
  int usual_size() const {
    for (const tree::Iteration& iteration : scenario_.iterations) {
      for (const tree::ScenarioGroup& group : iteration.groups) return std::max(1, static_cast<int>(group.scores.size()));
    }
    return 1;
  }

  Result<std::int64_t> count(const tree::HostSetting& host) {
    const tree::Expr& expr = tree_[host.values.front()];
    if (expr.kind == tree::ExprKind::Name) {
      for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
        if (program_.parameters[i].name == expr.text) return parameters_[i].integer();
      }
    }
    auto value = literal(tree_, host.values.front(), allowance_);
    if (!value) return value.error();
    if (value->kind != Value::Kind::Int || value->integer < 0) {
      return Error{fmt::format("`{}` is a whole number, 0 or more", host.name.text), ""};
    }
    return value->integer;
  }

  Result<void> take(const tree::HostSetting& host, lang::Program& program) {
    if (host.name.text == "pool") {
      for (const tree::ExprId id : host.values) {
        auto prompt = literal(tree_, id, allowance_);
        if (!prompt) return prompt.error();
        pool_.push_back(prompt->text);
      }
      return {};
    }
    auto number = count(host);
    if (!number) return number.error();
    const int small = static_cast<int>(std::min<std::int64_t>(*number, 1'000'000));
    if (host.name.text == "slots") settings_.slots = small;
    if (host.name.text == "size") settings_.group_size = small;
    if (host.name.text == "turn_limit") settings_.turn_limit = small;
    if (host.name.text == "turn_tokens") tokens_ = settings_.tokens_per_turn = small;
    if (host.name.text == "seed") settings_.seed = static_cast<std::uint64_t>(*number);
    if (host.name.text != "budget") return {};
    const std::string& unit = tree_[host.values.front()].unit;
    for (lang::Budget& budget : program.budgets) {
      if (!unit.empty() && lang::name(budget.unit) != unit) continue;
      budget.amount = {};
      budget.amount.integer = *number;
      return {};
    }
    return Error{"the policy declares no budget" + (unit.empty() ? "" : " in " + unit), "leave `budget` out"};
  }

  Result<std::string> key_of(const tree::KeyedGiven& given) {
    if (given.key == tree::none) return std::string();
    auto key = literal(tree_, given.key, allowance_);
    if (!key) return key.error();
    if (key->kind != Value::Kind::String) return Error{"the key of state is a prompt in quotes", ""};
    return key->text;
  }

  // `given category["a"] = "algebra"`, where the policy has no state of that name.
  bool is_category(const tree::KeyedGiven& given) const {
    return given.name.text == "category" && !state_named(program_, given.name.text);
  }

  Result<void> take_category(const tree::KeyedGiven& given) {
    auto key = key_of(given);
    auto value = literal(tree_, given.value, allowance_);
    if (!key) return key.error();
    if (!value) return value.error();
    if (value->kind != Value::Kind::String) return Error{"a category is a text in quotes", ""};
    if (std::find(pool_.begin(), pool_.end(), *key) == pool_.end()) {
      return Error{fmt::format("`{}` is no prompt of the pool, and those alone have a category", *key),
                   "name all prompts before: `pool a, b`"};
    }
    categories_[*key] = value->text;
    return {};
  }

  Result<void> take_input(const tree::KeyedGiven& given) {
    const auto state = state_named(program_, given.name.text);
    if (!state || !program_.states[*state].input) return {};
    auto key = key_of(given);
    auto value = literal(tree_, given.value, allowance_);
    if (!key) return key.error();
    if (!value) return value.error();
    if (value->kind == Value::Kind::Undefined) return {};
    settings_.inputs[given.name.text][*key] =
        value->kind == Value::Kind::Real ? value->real : static_cast<double>(value->integer);
    return {};
  }

  Result<void> take_state(const tree::KeyedGiven& given) {
    const auto index = state_named(program_, given.name.text);
    if (!index) return Error{fmt::format("there is no state `{}`", given.name.text), ""};
    const lang::State& state = program_.states[*index];
    if (state.input) return {};
    auto key = key_of(given);
    auto value = literal(tree_, given.value, allowance_);
    if (!key) return key.error();
    if (!value) return value.error();
    const std::vector<Cell> cell = value->cells(state.type.base);
    if (static_cast<std::int64_t>(cell.size()) != state.type.cells()) {
      return Error{fmt::format("`{}` is {}", state.name, lang::to_text(state.type)), "give a value of that type"};
    }
    if (state.scope == lang::StateScope::Prompt) {
      engine_->state().write_prompt(*key, *index, cell);
    } else if (state.scope == lang::StateScope::Category) {
      engine_->state().write_category(*key, *index, cell);
    } else if (state.scope == lang::StateScope::Run) {
      engine_->state().write_run(*index, cell);
    } else {
      return Error{fmt::format("`{}` cannot be given: state per group begins with its group", state.name), ""};
    }
    return {};
  }

  // ---- an iteration

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
    if (!pool_.empty()) prompts = pool_;
    if (auto played = script.play(index, prompts, parts); !played) return played;
    auto report = engine_->end_iteration();
    if (!report) return without_actions(parts) ? Result<void>(silent()) : Result<void>(report.error());
    report_ = *std::move(report);
    note_fired();
    if (pool_.empty()) return {};
    // What was opened goes to the end of the pool.
    const std::vector<std::string> unused = engine_->unused_prompts();
    std::vector<std::string> opened;
    for (const std::string& prompt : pool_) {
      if (std::find(unused.begin(), unused.end(), prompt) == unused.end()) opened.push_back(prompt);
    }
    pool_ = unused;
    pool_.insert(pool_.end(), opened.begin(), opened.end());
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
    const std::vector<std::vector<std::int64_t>> rules = engine_->rules_fired();
    for (std::size_t handler = 0; handler < rules.size(); ++handler) {
      for (std::size_t rule = 0; rule < rules[handler].size(); ++rule) {
        if (rules[handler][rule] > 0) fired_.emplace(static_cast<int>(handler), static_cast<int>(rule));
      }
    }
  }

  // ---- expectations

  ExpectReport check(const Script& script, const tree::ScenarioExpect& expect) {
    ExpectReport report;
    report.line = line(expect.span);
    report.text = std::string(program_.source->text(expect.span));
    Result<void> done = !expect.point.empty()              ? check_decision(expect, report)
                        : expect.condition != tree::none ? check_condition(script, expect, report)
                                                           : check_fate(script, expect, report);
    if (!done) report.got = done.error().text();
    return report;
  }

  Result<std::string> text_of(tree::ExprId id) {
    auto text = literal(tree_, id, allowance_);
    return text ? Result<std::string>(text->text) : text.error();
  }

  Result<void> check_decision(const tree::ScenarioExpect& expect, ExpectReport& report) {
    int number = 0;
    if (expect.number != tree::none) {
      auto given = literal(tree_, expect.number, allowance_);
      if (!given) return given.error();
      number = static_cast<int>(given->integer);
    }
    // The latest answer of that point, or that of the turn or wave which is named.
    const Answer* answer = nullptr;
    std::string others;
    for (const Answer& each : answers_) {
      const lang::Handler& handler = program_.handlers[static_cast<std::size_t>(each.handler)];
      if (each.prompt != expect.group.text) continue;
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", lang::name(handler.point), each.number);
      if (lang::name(handler.point) == expect.point && (number == 0 || each.number == number)) answer = &each;
    }
    tree::Verdict verdict = expect.verdict;
    if (expect.because != tree::none) verdict.because = expect.because;
    auto expected = read_expected(program_, parameters_, verdict);
    if (!expected) return expected.error();
    report.expected = verdict.actions.empty() ? "any verdict" : describe_actions(expected->verdict);
    if (expected->with_reason) report.expected += " because \"" + expected->verdict.reason + "\"";
    if (answer == nullptr) {
      return Error{fmt::format("`{}` was not asked of group {} in this iteration{}", expect.point, expect.group.text,
                               others.empty() ? "" : "; it was asked at " + others), ""};
    }
    const lang::Handler& handler = program_.handlers[static_cast<std::size_t>(answer->handler)];
    report.got = answer->fault.empty() ? describe(answer->verdict) : "a fault: " + answer->fault;
    report.trace = answer->verdict.where.empty() ? "" : "by the rule at " + answer->verdict.where;
    if (!answer->fault.empty()) return {};
    report.passed = verdict.actions.empty()
                        ? expected->with_reason && expected->verdict.reason == answer->verdict.reason
                        : matches(*expected, answer->verdict, handler.point);
    return {};
  }

  Result<void> check_fate(const Script& script, const tree::ScenarioExpect& expect, ExpectReport& report) {
    report.expected = expect.fate;
    std::string reason;
    if (expect.because != tree::none) {
      auto text = text_of(expect.because);
      if (!text) return text.error();
      reason = *text;
      report.expected += " because \"" + reason + "\"";
    }
    const auto course = script.courses().find(expect.group.text);
    if (course == script.courses().end()) return Error{"no group of this prompt was opened in this iteration", ""};
    report.got = course->second.fate.empty() ? "open" : course->second.fate;
    const std::string given = course->second.result ? course->second.result->reason : "";
    if (!given.empty()) report.got += " because \"" + given + "\"";
    report.passed = course->second.fate == expect.fate && (expect.because == tree::none || reason == given);
    return {};
  }

  Result<void> check_condition(const Script& script, const tree::ScenarioExpect& expect, ExpectReport& report) {
    report.expected = "true";
    const View view(program_, *engine_, report_, script.courses());
    auto claim = judge(tree_, expect.condition, [&](const Place& asked) { return view.look(asked); });
    if (!claim) return claim.error();
    report.passed = claim->holds;
    report.got = fmt::format("{}: {}", claim->holds ? "true" : "false", claim->got);
    return {};
  }

  const lang::Program& program_;
  const tree::File& tree_;
  const tree::ScenarioDecl& scenario_;
  [[maybe_unused]] bool native_;
  std::vector<Cell> parameters_;
  engine::Settings settings_;
  int tokens_ = 0;
  std::vector<std::string> pool_;
  std::map<std::string, std::string> categories_;  // of its prompts, where they have one
  std::unique_ptr<engine::LiveEngine> engine_;
  std::vector<Answer> answers_;
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
