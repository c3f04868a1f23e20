// Policies, of one file or several, and their tests run.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "lang/compose/library.h"
#include "lang/program.h"
#include "runtime/trial/trial.h"
#include "tests/several_files.h"

namespace allot::trial::test {

inline std::shared_ptr<const lang::Program> program_of(const std::string& text) {
  auto files = texts::several_files(text);
  auto source = std::make_shared<const lang::Source>("test.allot", files.first);
  lang::Diagnostics diagnostics;
  auto checked = lang::check(source, diagnostics, std::make_shared<const lang::TextLibrary>(std::move(files.others)));
  INFO(lang::render_all(diagnostics, *source));
  REQUIRE(checked);
  return std::make_shared<const lang::Program>(*std::move(checked));
}

inline std::vector<TestReport> run(const std::string& text) {
  const auto program = program_of(text);
  Options options;
#ifdef ALLOT_HAS_NATIVE
  options.native = true;
#endif
  auto reports = trial::run(*program, options);
  UNSCOPED_INFO(trial::render(reports, *program));
  return reports;
}

inline void passes(const std::string& text) {
  const auto reports = run(text);
  REQUIRE_FALSE(reports.empty());
  for (const TestReport& report : reports) {
    INFO(report.title << ": " << report.error);
    CHECK(report.passed);
  }
}

}  // namespace allot::trial::test
