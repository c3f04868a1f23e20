// What each operation of the typed program means. Expected values follow from the comments of lang/program.h and from
// arithmetic; the same programs then run as machine code (native_test.cpp).
#include <catch2/catch.hpp>

#include "compiler/builtins/table.h"
#include "tests/compiler/cases.h"
#include "tests/small_stack.h"

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

// 4,900 sums in each other take more than the 160 kB that such a thread has beside the reserve (common/stack.h): that
// would be 33 bytes a level. A thousand, the longest chain that a policy can hold, fit a stack of the usual size.
TEST_CASE("a tree that the stack has no room for is a fault, and too large for machine code") {
  const auto chain = [](int terms) {
    Builder b;
    NodeId sum = b.integer(1);
    for (int i = 1; i < terms; ++i) sum = b.add(Op::Add, type(Base::Int), {sum, b.integer(1)});
    b.report(sum);
    b.program.name = "chain";
    return std::move(b.program);
  };
  const Program usual = chain(1000), deep = chain(4900);
  FaultKind fault = FaultKind::Domain;
  CHECK(value_of(*evaluate(usual), usual, &fault) == Cell::of(std::int64_t{1000}));
  CHECK(fault == FaultKind::None);
  const auto compiled = compile(usual, Optimize::Full);
  REQUIRE(compiled);
  CHECK(value_of(**compiled, usual) == Cell::of(std::int64_t{1000}));

  std::string refused;
  allot::test::on_stack(256 * 1024, [&] {
    (void)value_of(*evaluate(deep), deep, &fault);
    const auto none = compile(deep, Optimize::None);
    if (!none) refused = none.error().text();
  });
  CHECK(fault == FaultKind::OutOfMemory);
  CHECK_THAT(refused, Catch::Contains("too large for machine code"));
}
