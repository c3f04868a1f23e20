// What each operation of the typed program means. Expected values follow from the comments of lang/program.h and from
// arithmetic; the same programs then run as machine code (native_test.cpp).
#include <catch2/catch.hpp>

#include "compiler/builtins/table.h"
#include "tests/compiler/cases.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

TEST_CASE("every row of the table of built-ins has an implementation") {
  for (const allot::lang::Builtin& row : allot::lang::builtins()) {
    INFO(row.name);
    CHECK(implementation(row.name) != nullptr);
    CHECK(row.arguments.size() <= most_arguments);
  }
}

TEST_CASE("each operation, by evaluator") {
  for (const Case& one : cases()) {
    INFO(one.name);
    const auto evaluator = evaluate(one.builder.program);
    check(one, *evaluator);
  }
}
