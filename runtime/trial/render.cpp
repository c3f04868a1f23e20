#include <fmt/format.h>

#include "runtime/trial/trial.h"

namespace allot::trial {
namespace {

std::string indented(const std::string& text, const std::string& margin) {
  std::string result = margin;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += margin;
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == '\n')) result.pop_back();
  return result + "\n";
}

}  // namespace

std::string render(const std::vector<TestReport>& reports, const lang::Program& program) {
  const std::string file = program.source ? program.source->name() : program.name;
  std::string text;
  int failed = 0;
  for (const TestReport& report : reports) {
    text += fmt::format("{} {}\n", report.passed ? "ok    " : "FAILED", report.title);
    failed += !report.passed;
    if (!report.error.empty()) text += indented(fmt::format("{}:{}: {}", file, report.line, report.error), "  ");
    for (const ExpectReport& expect : report.expects) {
      if (expect.passed) continue;
      text += fmt::format("  {}:{}: {}\n    expected: {}\n    got:      {}\n", file, expect.line, expect.text,
                          expect.expected, expect.got);
      if (!expect.trace.empty()) text += indented(expect.trace, "      ");
    }
  }
  const std::size_t passed = reports.size() - static_cast<std::size_t>(failed);
  return text + fmt::format("{} of {} tests passed\n", passed, reports.size());
}

}  // namespace allot::trial
