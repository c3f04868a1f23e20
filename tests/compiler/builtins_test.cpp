// Built-ins whose answer is a set or an edge of their domain. The numbers behind the others are tested with math/.
#include <catch2/catch.hpp>

#include "compiler/builtins/table.h"
#include "lang/types.h"
#include "runtime/math/random.h"
#include "runtime/math/sum.h"
#include "runtime/statistics/subset.h"

using namespace allot::compiler;
using allot::lang::Base;

namespace {

Value number(double value) { return {Cell::of(value), {}, Base::Real, false}; }
Value number(int value) { return {Cell::of(std::int64_t{value}), {}, Base::Int, false}; }
Value belief(double a, double b) { return {Cell::beta(a, b), {}, Base::Beta, false}; }

std::vector<Cell> cells(const std::vector<double>& values) {
  std::vector<Cell> all;
  for (const double value : values) all.push_back(value == -99 ? Cell::undefined() : Cell::of(value));
  return all;
}

std::vector<std::int64_t> positions(const char* name, const std::vector<double>& values, int count) {
  const std::vector<Cell> of = cells(values);
  const Value arguments[] = {{Cell{}, {of.data(), static_cast<std::int64_t>(of.size())}, Base::Real, true},
                             number(count)};
  Value result;
  result.base = Base::Int;
  result.vector = true;
  Scratch scratch;
  REQUIRE(call(implementation(name), arguments, 2, result, scratch) == FaultKind::None);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < result.column.size; ++i) all.push_back(result.column.cells[i].integer());
  return all;
}

FaultKind fault(const char* name, const std::vector<Value>& arguments, Base base = Base::Real) {
  Value result;
  result.base = base;
  Scratch scratch;
  return call(implementation(name), arguments.data(), arguments.size(), result, scratch);
}

using Positions = std::vector<std::int64_t>;

}  // namespace

// Vectors pods-1 to pods-6 of shaping_vectors.json, in ascending order.
TEST_CASE("max_variance takes the set that PODS takes") {
  const std::vector<double> mixed{0.1, 0.9, 0.4, 0.35, 0.8, 0.0, 0.65, 0.5};
  CHECK(positions("max_variance", mixed, 4) == Positions{0, 1, 4, 5});
  CHECK(positions("max_variance", {1, 0, 0, 0, 0, 0, 1, 0}, 4) == Positions{0, 1, 2, 6});
  CHECK(positions("max_variance", {3.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.0, 0.3}, 4) == Positions{0, 1, 2, 6});
  CHECK(positions("max_variance", {1, 1, 1, 1, 1, 1}, 3) == Positions{0, 1, 2});
  CHECK(positions("max_variance", mixed, 8) == Positions{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(positions("max_variance", mixed, 3) == Positions{0, 1, 5});
}

// The language and the statistics library break ties differently; the best variance is one and the same.
TEST_CASE("max_variance reaches the variance that the statistics library reaches") {
  for (std::uint64_t round = 0; round < 400; ++round) {
    const auto draw = [&](std::uint64_t i, std::uint64_t bound) { return allot::math::below(bound, 11, round, i); };
    std::vector<double> values(1 + draw(0, 9));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(draw(i + 2, 4)) / 2;
    const int count = static_cast<int>(draw(1, values.size() + 1));
    const auto spread = [&](const auto& kept) {
      std::vector<double> picked;
      for (const auto position : kept) picked.push_back(values[static_cast<std::size_t>(position)]);
      return allot::math::variance(picked, 0).value_or(0);
    };
    const auto ours = positions("max_variance", values, count);
    REQUIRE(ours.size() == static_cast<std::size_t>(count));
    CHECK(spread(ours) == Approx(spread(allot::statistics::max_variance(values, count))));
  }
}

// By the definition in lang/builtins.cpp; -99 stands for an unscored rollout.
TEST_CASE("unscored elements keep their place in positions and are never chosen") {
  CHECK(positions("max_variance", {-99, 1, -99, 0}, 5) == Positions{1, 3});
  CHECK(positions("top", {0.5, -99, 2, 0.5}, 2) == Positions{2, 0});
  CHECK(positions("bottom", {0.5, -99, 2, 0.5}, 3) == Positions{0, 3, 2});
  CHECK(positions("argsort", {2, -99, 1, 2}, 0) == Positions{2, 0, 3});
  CHECK(positions("top", {}, 2).empty());
}

TEST_CASE("outside their domain functions fault") {
  CHECK(fault("sqrt", {number(-1.0)}) == FaultKind::Domain);
  CHECK(fault("sqrt", {number(-0.0)}) == FaultKind::None);
  CHECK(fault("log", {number(0.0)}) == FaultKind::Domain);
  CHECK(fault("pow", {number(-8.0), number(1.0 / 3)}) == FaultKind::Domain);
  CHECK(fault("pow", {number(-2.0), number(3.0)}) == FaultKind::None);
  CHECK(fault("pow", {number(0.0), number(-1.0)}) == FaultKind::Domain);
  CHECK(fault("exp", {number(1000.0)}) == FaultKind::NotFinite);
  CHECK(fault("clamp", {number(1.0), number(2.0), number(1.0)}) == FaultKind::Domain);
  CHECK(fault("floor", {number(1e300)}, Base::Int) == FaultKind::IntegerOverflow);
  CHECK(fault("beta", {number(0.0), number(1.0)}, Base::Beta) == FaultKind::Domain);
  CHECK(fault("observe", {belief(1, 1), number(-1.0), number(0.0)}, Base::Beta) == FaultKind::Domain);
  CHECK(fault("prob_mixed", {belief(1, 1), number(-1), number(0), number(8)}) == FaultKind::Domain);
  CHECK(fault("hit_utility", {belief(1, 1), number(-1)}) == FaultKind::Domain);
  CHECK(fault("flat_prob", {number(1.5), number(2)}) == FaultKind::Domain);
}
