// A program's text in, the codes of its diagnostics out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "lang/compose/library.h"
#include "lang/program.h"

namespace allot::test {

struct Checked {
  std::optional<lang::Program> program;
  std::multiset<std::string> codes;
  std::string shown;  // the diagnostics as people see them
};

// Lines `# file NAME.allot` begin other files, which the first may name.
inline Checked check(const std::string& text, const std::string& name = "p.allot") {
  static const std::string mark = "# file ";
  std::map<std::string, std::string> others;
  std::string first;
  std::string* into = &first;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark)) {
      into = &others[line.substr(mark.size(), line.find(".allot") - mark.size())];
    } else {
      *into += line + "\n";
    }
  }
  if (others.empty()) first = text;
  auto source = std::make_shared<const lang::Source>(name, first);
  lang::Diagnostics diagnostics;
  Checked result;
  result.program = lang::check(source, diagnostics, std::make_shared<const lang::TextLibrary>(std::move(others)));
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
