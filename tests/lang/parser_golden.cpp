// Every diagnostic of syntax as people see it. The expected files were read one by one against models.md §3.1 and the
// faults of faults.md F before they were committed; they are never rewritten without being read again.
#include <catch2/catch.hpp>
#include <regex>

#include "golden.h"
#include "lang/parser.h"

using namespace allot::lang;
using allot::test::compare_golden;

TEST_CASE("diagnostics of syntax read as expected") {
  const std::regex mangled("N5boost|x3|llvm|spirit|St6vector");
  compare_golden("syntax", 25, [&](const std::string& name, const std::string& text) {
    const Source source(name, text);
    Diagnostics diagnostics;
    parse(source, diagnostics);
    diagnostics.sort();
    auto shown = render_all(diagnostics, source);
    INFO(shown);
    CHECK_FALSE(std::regex_search(shown, mangled));
    return shown.empty() ? "no diagnostics\n" : shown;
  });
}
