// Every diagnostic of the checker as people see it. The expected files were read one by one against models.md §3.1
// before they were committed; they are never rewritten without being read again.
#include <catch2/catch.hpp>

#include "check_harness.h"
#include "golden.h"

TEST_CASE("diagnostics of the checker read as expected") {
  allot::test::compare_golden("check", 40, [](const std::string& name, const std::string& text) {
    const std::string shown = allot::test::check(text, name).shown;
    return shown.empty() ? std::string("no diagnostics\n") : shown;
  });
}
