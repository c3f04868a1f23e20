// Expressions as text, through the checker and every engine. Values follow by hand from docs/language.md; where a
// formula stands behind one, the comment says how.
#include <catch2/catch.hpp>

#include <optional>
#include <string>

#include "lang/diagnostics.h"
#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

struct Seen {
  Cell value;
  FaultKind fault = FaultKind::None;
};

// What all engines make of it; they must agree.
Seen evaluated(const std::string& text) {
  auto source = std::make_shared<const allot::lang::Source>("<expression>", text);
  allot::lang::Diagnostics diagnostics;
  const std::optional<Program> program = allot::lang::check_expression(source, diagnostics);
  INFO(text << "\n" << allot::lang::render_all(diagnostics, *source));
  REQUIRE(program);
  Seen seen;
  seen.value = value_of(*evaluate(*program), *program, &seen.fault);
  for (const Optimize level : {Optimize::None, Optimize::Full}) {
    auto native = compile(*program, level);
    REQUIRE(native);
    FaultKind fault = FaultKind::None;
    const Cell value = value_of(**native, *program, &fault);
    CHECK(fault == seen.fault);
    if (seen.fault == FaultKind::None) CHECK(value == seen.value);
  }
  return seen;
}

double real(const std::string& text) {
  const Seen seen = evaluated(text);
  INFO(text);
  CHECK(seen.fault == FaultKind::None);
  CHECK(seen.value.defined == 1);
  return seen.value.real();
}
std::int64_t integer(const std::string& text) {
  const Seen seen = evaluated(text);
  INFO(text);
  CHECK(seen.fault == FaultKind::None);
  CHECK(seen.value.defined == 1);
  return seen.value.integer();
}
bool undefined(const std::string& text) {
  const Seen seen = evaluated(text);
  return seen.fault == FaultKind::None && seen.value.defined == 0;
}
FaultKind fault(const std::string& text) { return evaluated(text).fault; }

}  // namespace

TEST_CASE("elements are read by position") {
  CHECK(integer("[5, 7, 9][1]") == 7);
  CHECK(real("[[1, 2, 3], [4, 5, 6.5]][1, 2]") == 6.5);
  CHECK(undefined("[1, undefined][1]"));
  CHECK(fault("[5, 7][size([0]) + 1]") == FaultKind::IndexOutOfRange);
  CHECK(fault("[5, 7][0 - size([0])]") == FaultKind::IndexOutOfRange);
  CHECK(fault("[[1, 2], [3, 4]][0, size([0, 0])]") == FaultKind::IndexOutOfRange);
  CHECK(fault("[[1, 2], [3, 4]][size([0, 0]), 0]") == FaultKind::IndexOutOfRange);
}

TEST_CASE("vectors and matrices combine element by element") {
  CHECK(integer("([1, 2] + [10, 20])[1]") == 22);
  CHECK(real("([1, 2] * [0.5, 4])[1]") == 8);
  CHECK(real("(2 * [1.5, 2])[0]") == 3);
  CHECK(real("([[1, 2], [3, 4]] + [[0.5, 0], [0, 0.25]])[1, 1]") == 4.25);
  CHECK(real("([[1, 2], [3, 4]] * 0.5)[1, 0]") == 1.5);
  CHECK(integer("size([[1, 2], [3, 4]])") == 4);
  CHECK(integer("sum([[1, 2], [3, 4]])") == 10);
  CHECK(integer("sum(x * x for x in [[1, 2], [3, 4]])") == 30);
  CHECK(undefined("([1, undefined] + [1, 2])[1]"));
  CHECK(integer("count([3, 1, 2] > [1, 1, 1])") == 2);
  CHECK(integer("(-[1, 2])[1]") == -2);
  CHECK(real("max([1, -2, 3], 0)[1]") == 0);
  // Lists whose lengths are known in a run only: by hand, 3 - 1 = 2 elements are not 3.
  CHECK(fault("([x for x in [1, 2, 3] where x > 1] + [1, 2, 3])[0]") == FaultKind::Domain);
  CHECK(integer("([x for x in [1, 2, 3] where x > 1] + [10, 20])[1]") == 23);
}

TEST_CASE("products") {
  CHECK(real("dot([1, 2, 3], [4, 5, 6])") == 32);
  CHECK(real("dot([1, undefined, 3], [4, 5, 6])") == 22);
  CHECK(real("outer([1, 2], [3, 4, 5])[1, 2]") == 10);
  CHECK(real("([[1, 2], [3, 4]] * [5, 6])[1]") == 39);
  CHECK(real("([[1, 2], [3, 4]] * [[0, 1], [1, 0]])[0, 0]") == 2);
  CHECK(real("matmul([[1, 2, 3]], [[1], [2], [3]])[0, 0]") == 14);
  CHECK(real("transpose([[1, 2, 3], [4, 5, 6]])[2, 1]") == 6);
  CHECK(fault("([[1, 2], [3, 4]] * [x for x in [1, 2, 3] where x > 0])[0]") == FaultKind::Domain);
}
