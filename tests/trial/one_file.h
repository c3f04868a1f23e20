// Policies of one file, and their tests run.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/trial/trial.h"

namespace allot::trial::one_file {

inline std::shared_ptr<const lang::Program> program_of(const std::string& text) {
  const auto source = std::make_shared<const lang::Source>("test.allot", text);
  lang::Diagnostics diagnostics;
  auto checked = lang::check(source, diagnostics);
  INFO(lang::render_all(diagnostics, *source));
  REQUIRE(checked);
  REQUIRE_FALSE(diagnostics.has_errors());
  return std::make_shared<const lang::Program>(*std::move(checked));
}

inline std::vector<trial::TestReport> run(const std::string& text, const trial::Options& options = {}) {
  const auto program = program_of(text);
  auto reports = trial::run(*program, options);
  UNSCOPED_INFO(trial::render(reports, *program));
  return reports;
}

}  // namespace allot::trial::one_file
