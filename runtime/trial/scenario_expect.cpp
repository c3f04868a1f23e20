#include "runtime/trial/scenario_expect.h"

#include <fmt/format.h>

#include "runtime/trial/claims.h"
#include "runtime/trial/expected.h"
#include "runtime/trial/view.h"

namespace allot::trial {
namespace {

namespace tree = lang::tree;

class Expectation {
 public:
  Expectation(const PlayedIteration& played, Allowance& allowance)
      : played_(played), tree_(*played.program.tree), allowance_(allowance) {}

  ExpectReport check(const tree::ScenarioExpect& expect) {
    ExpectReport report;
    report.line = played_.program.source->place(expect.span.begin).line;
    report.text = std::string(played_.program.source->text(expect.span));
    Result<void> done = !expect.point.empty()              ? check_decision(expect, report)
                        : expect.condition != tree::none ? check_condition(expect, report)
                                                           : check_fate(expect, report);
    if (!done) report.got = done.error().text();
    return report;
  }

 private:
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
    const ScenarioAnswer* answer = nullptr;
    std::string others;
    for (const ScenarioAnswer& each : played_.answers) {
      const lang::Handler& handler = played_.program.handlers[static_cast<std::size_t>(each.handler)];
      if (each.prompt != expect.group.text) continue;
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", lang::name(handler.point), each.number);
      if (lang::name(handler.point) == expect.point && (number == 0 || each.number == number)) answer = &each;
    }
    tree::Verdict verdict = expect.verdict;
    if (expect.because != tree::none) verdict.because = expect.because;
    auto expected = read_expected(played_.program, played_.parameters, verdict);
    if (!expected) return expected.error();
    report.expected = verdict.actions.empty() ? "any verdict" : describe_actions(expected->verdict);
    if (expected->with_reason) report.expected += " because \"" + expected->verdict.reason + "\"";
    if (answer == nullptr) {
      return Error{fmt::format("`{}` was not asked of group {} in this iteration{}", expect.point, expect.group.text,
                               others.empty() ? "" : "; it was asked at " + others), ""};
    }
    const lang::Handler& handler = played_.program.handlers[static_cast<std::size_t>(answer->handler)];
    report.got = answer->fault.empty() ? describe(answer->verdict) : "a fault: " + answer->fault;
    report.trace = answer->verdict.where.empty() ? "" : "by the rule at " + answer->verdict.where;
    if (!answer->fault.empty()) return {};
    report.passed = verdict.actions.empty()
                        ? expected->with_reason && expected->verdict.reason == answer->verdict.reason
                        : matches(*expected, answer->verdict, handler.point);
    return {};
  }

  Result<void> check_fate(const tree::ScenarioExpect& expect, ExpectReport& report) {
    report.expected = expect.fate;
    std::string reason;
    if (expect.because != tree::none) {
      auto text = text_of(expect.because);
      if (!text) return text.error();
      reason = *text;
      report.expected += " because \"" + reason + "\"";
    }
    const auto course = played_.courses.find(expect.group.text);
    if (course == played_.courses.end()) return Error{"no group of this prompt was opened in this iteration", ""};
    report.got = course->second.fate.empty() ? "open" : course->second.fate;
    const std::string given = course->second.result ? course->second.result->reason : "";
    if (!given.empty()) report.got += " because \"" + given + "\"";
    report.passed = course->second.fate == expect.fate && (expect.because == tree::none || reason == given);
    return {};
  }

  Result<void> check_condition(const tree::ScenarioExpect& expect, ExpectReport& report) {
    report.expected = "true";
    const View view(played_.program, played_.engine, played_.report, played_.courses);
    auto claim = judge(tree_, expect.condition, [&](const Place& asked) { return view.look(asked); });
    if (!claim) return claim.error();
    report.passed = claim->holds;
    report.got = fmt::format("{}: {}", claim->holds ? "true" : "false", claim->got);
    return {};
  }

  const PlayedIteration& played_;
  const tree::File& tree_;
  Allowance& allowance_;
};

}  // namespace

ExpectReport check_expect(const PlayedIteration& played, const tree::ScenarioExpect& expect, Allowance& allowance) {
  return Expectation(played, allowance).check(expect);
}

}  // namespace allot::trial
