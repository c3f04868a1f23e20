#include "runtime/trial/trial.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "compiler/executable.h"
#include "lang/compose/library.h"
#include "runtime/engine/judge.h"
#include "runtime/engine/points.h"
#include "runtime/engine/question.h"
#include "runtime/trial/answers.h"
#include "runtime/trial/asked.h"
#include "runtime/trial/asked_group.h"
#include "runtime/trial/condition.h"
#include "runtime/trial/expected.h"
#include "runtime/trial/handler_of.h"
#include "runtime/trial/record.h"
#include "runtime/trial/scenario.h"

namespace allot::trial {
namespace {

using engine::Question;
using lang::Point;
namespace tree = lang::tree;

struct Executables {
  std::unique_ptr<compiler::Executable> evaluator;
  std::unique_ptr<compiler::Executable> native;  // none: not asked for, or not there
};

Result<Executables> executables(const lang::Program& program, bool native) {
  Executables both;
  both.evaluator = compiler::evaluate(program);
#ifdef ALLOT_HAS_NATIVE
  if (native) {
    auto code = compiler::compile(program);
    if (!code) return code.error();
    both.native = *std::move(code);
  }
#else
  if (native) return Error{"This build has no compiler.", "run the tests without native code"};
#endif
  return both;
}

// One test: its parameters, records and states, and the asking.
class Trial {
 public:
  Trial(const lang::Program& program, const tree::TestDecl& test, const Options& options)
      : program_(program), test_(test), options_(options) {}

  TestReport run() {
    TestReport report;
    report.title = test_.title;
    report.line = line(test_.span);
    if (auto error = prepare()) {
      report.error = error->text();
      return report;
    }
    report.passed = true;
    for (const tree::Expect& expect : test_.expects) {
      report.expects.push_back(check(expect));
      report.passed = report.passed && report.expects.back().passed;
    }
    report.fired = std::move(fired_);
    return report;
  }

 private:
  int line(lang::Span span) const { return program_.source->place(span.begin).line; }

  std::optional<Error> prepare() {
    std::map<std::string, std::string> settings;
    for (const tree::Setting& setting : test_.settings) {
      settings[setting.name.text] = std::string(program_.source->text((*program_.tree)[setting.value].span));
    }
    auto parameters = lang::bind(program_, settings);
    if (!parameters) return parameters.error();
    parameters_ = *std::move(parameters);
    store_ = engine::StateStore(program_);
    ledger_ = engine::Ledger(program_, parameters_, 1, false);
    auto made = executables(program_, options_.native);
    if (!made) return made.error();
    executables_ = *std::move(made);
    for (const tree::Given& given : test_.givens) {
      if (auto error = read_given(given)) return error;
    }
    return std::nullopt;
  }

  // One value, or one for each prompt of a record.
  static bool fits(const lang::State& state, std::size_t cells) {
    const auto one = static_cast<std::size_t>(state.type.cells());
    return cells == one || (state.scope == lang::StateScope::Prompt && cells > 0 && cells % one == 0);
  }

  // A state by its name, or a record.
  std::optional<Error> read_given(const tree::Given& given) {
    for (std::size_t i = 0; i < program_.states.size(); ++i) {
      if (program_.states[i].name != given.name.text) continue;
      auto value = literal(*program_.tree, given.value, allowance_);
      if (!value) return value.error();
      std::vector<Cell> cells = value->cells(program_.states[i].type.base);
      if (!fits(program_.states[i], cells.size())) {
        return Error{"The state `" + given.name.text + "` is " + lang::to_text(program_.states[i].type) + ".",
                     "a vector is given as `[a, b]`, a matrix as `[[a, b], [c, d]]`; per prompt also a list of them, one for "
                     "each prompt of the record"};
      }
      given_states_.emplace_back(i, std::move(cells));
      return std::nullopt;
    }
    auto record = read_record(program_, parameters_, given, allowance_);
    if (!record) return record.error();
    records_.insert_or_assign(given.name.text, *std::move(record));
    return std::nullopt;
  }

  ExpectReport check(const tree::Expect& expect) {
    ExpectReport report;
    report.line = line(expect.span);
    report.text = std::string(program_.source->text(expect.span));
    const std::optional<Error> error = expect.point.empty() ? check_condition(expect, report)
                                                            : check_verdict(expect, report);
    if (error) report.got = error->text();
    return report;
  }

  std::optional<Error> check_verdict(const tree::Expect& expect, ExpectReport& report) {
    const auto record = records_.find(expect.subject.text);
    if (record == records_.end()) return Error{"There is no record " + expect.subject.text + ".", "write `given`"};
    const auto point = point_named(expect.point);
    if (!point) return Error{"`" + expect.point + "` cannot be asked in a test.", ""};
    const int number = *point == Point::Turn ? record->second.turn : std::max(1, wave_of(record->second));
    const int handler = handler_of(program_, parameters_, *point, record->second, number);
    if (handler == engine::no_handler) {
      return Error{fmt::format("no handler of `{}` answers here{}", expect.point,
                               *point == Point::Turn ? fmt::format(" (turn is {})", number) : ""), ""};
    }
    report.expected = "a verdict that can be compared";
    auto expected = read_expected(program_, parameters_, expect.verdict);
    if (!expected) return expected.error();
    report.expected = expect.verdict.actions.empty() ? "any verdict" : describe_actions(expected->verdict);
    if (expected->with_reason) report.expected += " because \"" + expected->verdict.reason + "\"";
    auto verdict = ask(program_, executables_, handler, record->second, report.trace);
    if (!verdict) return verdict.error();
    report.got = describe(*verdict);
    report.verdict = *verdict;
    // `expect turn(g) because "…"` leaves the fields open.
    if (expect.verdict.actions.empty()) {
      report.passed = expected->with_reason && expected->verdict.reason == verdict->reason;
    } else {
      report.passed = matches(*expected, *verdict, *point);
    }
    return std::nullopt;
  }

  // The answer of the evaluator; with native code, of both, which must not differ in a bit.
  Result<Verdict> ask(const lang::Program& program, const Executables& executables, int index, const Record& record,
                      std::string& trace) {
    const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
    if (auto error = missing_input(program, handler)) return *error;
    if (!record.is_group() && about(handler, record.kind)) return ask_asked(program, executables, index, record, trace);
    const TestedPolicy tested{program_, parameters_, given_states_, ledger_, *executables_.evaluator, store_};
    Question question;
    if (auto error = fill(question, tested, program, handler, record)) return *error;
    const std::vector<std::string> prompts{record.group->log.prompt};
    Answer answer;
    answer.prepare(program, handler);
    executables.evaluator->decide(index, question.frame(), answer.outcome);
    const Verdict verdict = resolve(program, handler, answer, prompts);
    trace = why(program, handler, question.reads(), prompts, verdict);
    if (!is_condition(program) && verdict.rule >= 0) fired_.emplace(index, verdict.rule);
    if (executables.native) {
      Answer other;
      other.prepare(program, handler);
      Question again;
      (void)fill(again, tested, program, handler, record);
      executables.native->decide(index, again.frame(), other.outcome);
      if (auto error = differ(program, handler, answer, verdict, other, prompts)) return *error;
    }
    if (auto error = fault(program, handler, answer, is_condition(program))) return *error;
    return verdict;
  }

  // What the host would have refused to begin without.
  std::optional<Error> missing_input(const lang::Program& program, const lang::Handler& handler) const {
    if (is_condition(program)) return std::nullopt;
    for (const std::int32_t index : engine::states_read(handler)) {
      const lang::State& state = program.states[static_cast<std::size_t>(index)];
      const bool given = std::any_of(given_states_.begin(), given_states_.end(), [&](const auto& each) {
        return static_cast<std::int32_t>(each.first) == index;
      });
      if (!state.input || state.type.optional || given) continue;
      return Error{fmt::format("The input `{}` is not given.", state.name), fmt::format("write `given {} = …`", state.name)};
    }
    return std::nullopt;
  }

  // The same of a pool, a batch, a rollout or a micro-batch.
  Result<Verdict> ask_asked(const lang::Program& program, const Executables& executables, int index,
                            const Record& record, std::string& trace) {
    const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
    const engine::RunFacts run{&program, &parameters_, &ledger_, 0, 8, 0};
    auto asked = Asked::fill(program, handler, record, given_states_, store_, run);
    if (!asked) return asked.error();
    Answer answer;
    answer.prepare(program, handler);
    executables.evaluator->decide(index, asked->frame(), answer.outcome);
    const Verdict verdict = resolve(program, handler, answer, asked->prompts());
    trace = why(program, handler, asked->reads(), asked->prompts(), verdict);
    if (verdict.rule >= 0) fired_.emplace(index, verdict.rule);
    if (executables.native) {
      auto again = Asked::fill(program, handler, record, given_states_, store_, run);
      Answer other;
      other.prepare(program, handler);
      executables.native->decide(index, again->frame(), other.outcome);
      if (auto error = differ(program, handler, answer, verdict, other, asked->prompts())) return *error;
    }
    if (auto error = fault(program, handler, answer, is_condition(program))) return *error;
    return verdict;
  }

  // The handler of a condition stands in no file: its places say nothing to people.
  bool is_condition(const lang::Program& program) const { return &program != &program_; }

  std::string why(const lang::Program& program, const lang::Handler& handler, const std::vector<Cell>& reads,
                  const std::vector<std::string>& prompts, const Verdict& verdict) const {
    return values_of(program, handler, reads, prompts, parameters_) + (is_condition(program) ? "" : answered_by(verdict));
  }

  // A plain condition is checked as one more handler of the same policy, so that it means what it would mean there.
  std::optional<Error> check_condition(const tree::Expect& expect, ExpectReport& report) {
    report.expected = "true";
    const auto record = std::find_if(records_.begin(), records_.end(),
                                     [](const auto& each) { return each.second.is_group(); });
    if (record == records_.end()) return Error{"A condition is about a group: write `given g = group { … }`.", ""};
    lang::Diagnostics diagnostics;
    auto source = std::make_shared<const lang::Source>(program_.source->name(),
                                                       condition_source(program_, expect, record->first));
    const auto checked = lang::check(source, diagnostics, program_.library);
    if (!checked || diagnostics.has_errors()) return Error{"the condition cannot be checked:" + without_places(diagnostics), ""};
    auto made = executables(*checked, false);
    if (!made) return made.error();
    const int handler = engine::Points(*checked, parameters_).find(Point::Wave, condition_wave);
    auto verdict = ask(*checked, *made, handler, record->second, report.trace);
    if (!verdict) return verdict.error();
    report.passed = verdict->group == lang::GroupField::Drop;
    report.got = report.passed ? "true" : "false";
    return std::nullopt;
  }

  const lang::Program& program_;
  const tree::TestDecl& test_;
  const Options& options_;
  std::vector<Cell> parameters_;
  engine::StateStore store_;
  engine::Ledger ledger_;
  Executables executables_;
  Allowance allowance_;
  std::map<std::string, Record> records_;
  std::vector<std::pair<std::size_t, std::vector<Cell>>> given_states_;
  std::set<std::pair<int, int>> fired_;
};

}  // namespace

std::vector<TestReport> run(const lang::Program& program, const Options& options) {
  std::vector<TestReport> reports;
  if (!program.tree || !program.source) return reports;
  for (const tree::TestDecl& test : program.tree->tests) {
    if (test.title.find(options.only) != std::string::npos) reports.push_back(Trial(program, test, options).run());
  }
  for (TestReport& report : run_scenarios(program, options)) reports.push_back(std::move(report));
  return reports;
}

}  // namespace allot::trial
