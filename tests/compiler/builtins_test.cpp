// Built-ins whose answer is a set or an edge of their domain. The numbers behind the others are tested with math/.
#include <catch2/catch.hpp>

#include <limits>
#include <map>
#include <string>

#include "compiler/builtins/table.h"
#include "lang/builtins.h"
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

// The second argument of `argsort` is whether it descends; `max_variance` knows no ties.
std::vector<std::int64_t> positions(const std::string& name, const std::vector<double>& values, int count, double ties = -1) {
  const std::vector<Cell> of = cells(values);
  const Value arguments[] = {{Cell{}, {of.data(), static_cast<std::int64_t>(of.size())}, Base::Real, true},
                             number(count), number(ties)};
  Value result;
  result.base = Base::Int;
  result.vector = true;
  Scratch scratch;
  REQUIRE(call(implementation(name), arguments, name == "max_variance" ? 2 : 3, result, scratch) == FaultKind::None);
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

// Of three equal elements each of the six orders comes as often: 6,000 draws, each 1,000 ± 4.5 standard deviations
// (√(6000 · 1/6 · 5/6) = 28.9). What differs keeps its place whatever is drawn.
TEST_CASE("a seeded order of ties is drawn from all orders, and is the same when drawn again") {
  std::map<Positions, int> orders;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const double ties = allot::math::uniform(7, 1, i);
    const Positions order = positions("argsort", {5, -99, 5, 1, 5}, 0, ties);
    REQUIRE(order.size() == 4);
    REQUIRE(order[0] == 3);
    REQUIRE(positions("argsort", {5, -99, 5, 1, 5}, 0, ties) == order);
    const Positions first = positions("top", {5, -99, 5, 1, 5}, 2, ties);
    REQUIRE((first[0] == order[1] && first[1] == order[2]));
    ++orders[order];
  }
  CHECK(orders.size() == 6);
  for (const auto& [order, count] : orders) CHECK(std::abs(count - 1000) < 130);
}

TEST_CASE("the places of a group run from its first on") {
  const auto places = [](std::int64_t first, std::int64_t count) {
    const Value arguments[] = {{Cell::of(first), {}, Base::Int, false}, {Cell::of(count), {}, Base::Int, false}};
    Value result;
    result.base = Base::Int;
    result.vector = true;
    Scratch scratch(1000);
    const FaultKind fault = call(implementation(allot::lang::places_of_group), arguments, 2, result, scratch);
    Positions all;
    for (std::int64_t i = 0; fault == FaultKind::None && i < result.column.size; ++i) {
      all.push_back(result.column.cells[i].integer());
    }
    return std::pair{fault, all};
  };
  CHECK(places(3, 2) == std::pair{FaultKind::None, Positions{3, 4}});
  CHECK(places(3, 0) == std::pair{FaultKind::None, Positions{}});
  CHECK(places(-1, 2).first == FaultKind::Domain);
  CHECK(places(0, -1).first == FaultKind::Domain);
  CHECK(places(std::numeric_limits<std::int64_t>::max(), 1).first == FaultKind::Domain);
  CHECK(places(0, 100'000).first == FaultKind::OutOfMemory);
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
