// What an allotment means, by hand; that all engines agree on it over random ones is property_test.cpp's.
#include <array>
#include <catch2/catch.hpp>

#include "compiler/executable.h"
#include "lang/limits.h"

using namespace allot;
using compiler::FaultKind;
using lang::Cell;

namespace {

struct Given {
  FaultKind fault;
  std::vector<Cell> counts;
};

Given ask(const compiler::Executable& executable, std::size_t scratch_cells) {
  compiler::Scratch scratch(scratch_cells);
  const std::array<std::int64_t, lang::scope_count> sizes{};
  compiler::Frame frame;
  frame.scope_sizes = sizes.data();
  frame.scratch = &scratch;
  compiler::Outcome outcome;
  executable.decide(0, frame, outcome);
  return {outcome.fault, {outcome.amounts.cells, outcome.amounts.cells + outcome.amounts.size}};
}

// By the evaluator and by machine code, which must agree.
Given allotted(const std::string& expression, std::size_t scratch_cells = 1 << 14) {
  const auto source = std::make_shared<const lang::Source>("e", expression);
  lang::Diagnostics diagnostics;
  const auto program = lang::check_expression(source, diagnostics);
  INFO(lang::render_all(diagnostics, *source));
  REQUIRE(program);
  const Given found = ask(*compiler::evaluate(*program), scratch_cells);
  for (const auto level : {compiler::Optimize::None, compiler::Optimize::Full}) {
    const auto compiled = compiler::compile(*program, level);
    REQUIRE(compiled);
    const Given other = ask(**compiled, scratch_cells);
    CHECK(other.fault == found.fault);
    CHECK(other.counts == found.counts);
  }
  return found;
}

std::vector<std::int64_t> counts(const std::string& expression) {
  const Given given = allotted(expression);
  CHECK(given.fault == FaultKind::None);
  std::vector<std::int64_t> result;
  for (const Cell& cell : given.counts) result.push_back(cell.defined != 0 ? cell.integer() : -1);
  return result;
}

using Counts = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("greed gives each unit where it adds most, and what adds nothing is left") {
  // Gains 1/2, 1/4, 1/8 of the first and 9/10, 9/100, … of the second.
  CHECK(counts("allot 3 over p in [0.5, 0.9], n in 0..9 maximizing 1 - pow(1 - p, n)") == Counts{2, 1});
  CHECK(counts("allot 9 over p in [0.0, 0.9], n in 0..3 maximizing 1 - pow(1 - p, n)") == Counts{0, 3});
  CHECK(counts("allot 4 over x in [3, 5, 1], n in 0..2 minimizing n * (4.0 - x)") == Counts{0, 2, 0});
}

TEST_CASE("bounds may differ by element, and a let of a function is computed for each count") {
  CHECK(counts("allot 9 over x in [1, 2, 3], n in 0..x maximizing n") == Counts{1, 2, 3});
  CHECK(counts("allot 9 over x in [1, 2, 3], n in x..x + 2 maximizing n") == Counts{3, 3, 3});
}

TEST_CASE("lows above the budget are undefined, each of them") {
  CHECK(counts("allot 5 over x in [1, 2, 3], n in x..9 maximizing n") == Counts{-1, -1, -1});
  CHECK(counts("allot 5 over x in [1, 2, 3], n in x..9 in proportion to 1") == Counts{-1, -1, -1});
}

TEST_CASE("a budget below 0 is one of 0") {
  for (const std::string how : {"maximizing n * x", "minimizing (n - x) * (n - x)", "in proportion to x"}) {
    CHECK(counts("allot -8 over x in [1, 2, 3], n in 0..8 " + how) == Counts{0, 0, 0});
    CHECK(counts("allot -8 over x in [1, 2, 3], n in 1..8 " + how) == Counts{-1, -1, -1});
  }
}

TEST_CASE("the nearest whole targets, count by count") {
  CHECK(counts("allot 9 over t in [1.2, 3.9], n in 0..8 minimizing (n - t) * (n - t)") == Counts{1, 4});
  CHECK(counts("allot 2 over t in [1.2, 3.9], n in 0..8 minimizing (n - t) * (n - t)") == Counts{0, 2});
}

TEST_CASE("proportional shares") {
  CHECK(counts("allot 7 over w in [3, 1, 0], n in 0..9 in proportion to w") == Counts{5, 2, 0});
}

TEST_CASE("faults: bounds that cross, a negative weight, work beyond the limit, too little memory") {
  CHECK(allotted("allot 7 over x in [1, 5], n in x..3 maximizing n").fault == FaultKind::Domain);
  CHECK(allotted("allot 7 over x in [1, 5], n in 2 - x..3 maximizing n").fault == FaultKind::Domain);
  CHECK(allotted("allot 7 over x in [1, -5], n in 0..3 in proportion to x").fault == FaultKind::Domain);
  const std::string most = std::to_string(lang::limits.allotted_units + 1);
  CHECK(allotted("allot " + most + " over x in [1], n in 0..9999999 maximizing n").fault == FaultKind::OutOfMemory);
  CHECK(allotted("allot 7 over x in [1, 5], n in 0..3 maximizing n", 5).fault == FaultKind::OutOfMemory);
  CHECK(allotted("allot 7 over x in [1, 5], n in 0..3 maximizing 1 / (x - n)").fault == FaultKind::DivisionByZero);
}
