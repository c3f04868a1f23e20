// A program's text in, the codes of its diagnostics out.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "lang/compose/library.h"
#include "lang/program.h"
#include "tests/several_files.h"

namespace allot::test {

struct Checked {
  std::optional<lang::Program> program;
  std::multiset<std::string> codes;
  std::string shown;  // the diagnostics as people see them
};

inline Checked check(const std::string& text, const std::string& name = "p.allot") {
  texts::SeveralFiles files = texts::several_files(text);
  auto source = std::make_shared<const lang::Source>(name, files.first);
  lang::Diagnostics diagnostics;
  Checked result;
  result.program = lang::check(source, diagnostics, std::make_shared<const lang::TextLibrary>(std::move(files.others)));
  for (const lang::Diagnostic& diagnostic : diagnostics.all()) result.codes.insert(diagnostic.code);
  result.shown = lang::render_all(diagnostics, *source);
  return result;
}

// One expression in a handler of `finish`, where every fact of a group is known. `report` takes it as it is.
inline Checked check_in_finish(const std::string& expression, const std::string& before = "") {
  return check("policy p\nhit when reward >= 1.0\n" + before + "\non finish of group g { report value = " + expression +
               " }\n");
}

}  // namespace allot::test
