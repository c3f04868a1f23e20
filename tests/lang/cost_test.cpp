#include "lang/cost.h"

#include <catch2/catch.hpp>

using allot::lang::Polynomial;
using allot::lang::worst_cost;
using allot::lang::Scope;

namespace {

allot::lang::Handler checked(const std::string& text) {
  allot::lang::Diagnostics diagnostics;
  auto program = allot::lang::check(std::make_shared<const allot::lang::Source>("test", text), diagnostics);
  INFO(allot::lang::render_all(diagnostics, allot::lang::Source("test", text)));
  REQUIRE(program);
  return program->handlers.front();
}

}  // namespace

TEST_CASE("a polynomial is written with its highest powers first") {
  const Polynomial n = Polynomial::variable(Scope::Rollouts);
  const Polynomial g = Polynomial::variable(Scope::Groups);
  Polynomial sum = Polynomial(7);
  sum += n * n * Polynomial(3);
  sum += g;
  CHECK(sum.text() == "3 n^2 + g + 7");
  CHECK(Polynomial().text() == "0");
  CHECK((Polynomial(0) * n).text() == "0");
}

TEST_CASE("a bound at given sizes") {
  // 3 n^2 + 2 t + 7 at n = 10, t = 5: 300 + 10 + 7.
  Polynomial sum = Polynomial(7);
  sum += Polynomial(3) * Polynomial::variable(Scope::Rollouts) * Polynomial::variable(Scope::Rollouts);
  sum += Polynomial(2) * Polynomial::variable(Scope::Turns);
  CHECK(sum.text() == "3 n^2 + 2 t + 7");
  CHECK(sum.at({10, 1, 1, 5}) == 317);
  CHECK((sum * Polynomial(INT64_MAX)).at({10, 1, 1, 5}) == INT64_MAX);
}

TEST_CASE("the degree is that of the highest product that is there") {
  const Polynomial n = Polynomial::variable(Scope::Rollouts);
  const Polynomial t = Polynomial::variable(Scope::Turns);
  Polynomial sum = n * n * t;
  sum += Polynomial(0) * n * n * n * n;
  sum += Polynomial(9);
  CHECK(sum.degree() == 3);
  CHECK(Polynomial(9).degree() == 0);
  CHECK(Polynomial().degree() == 0);
  CHECK(Polynomial::variable(Scope::AllTurns).degree() == 2);
}

TEST_CASE("multiplication distributes over addition") {
  const Polynomial n = Polynomial::variable(Scope::Rollouts);
  Polynomial left = n;
  left += Polynomial(2);
  CHECK((left * left).text() == "n^2 + 4 n + 4");  // (n + 2)^2
}

TEST_CASE("a bound that overflows saturates") {
  Polynomial large(INT64_MAX);
  large += Polynomial(1);
  CHECK(large.text() == std::to_string(INT64_MAX));
}

TEST_CASE("a handler that looks at single facts costs a constant") {
  const std::string text = worst_cost(checked("policy p\non finish of group g { when g.flat then drop otherwise train }")).text();
  CHECK(text.find('n') == std::string::npos);
  CHECK(text != "0");
}

TEST_CASE("a comprehension costs as much as there are rollouts, a nested one their square") {
  const auto once = checked(
      "policy p\non finish of group g { when sum(r.tokens for r in g.rollouts) > 5 tokens then drop otherwise train }");
  // Comparison, sum and literal are one evaluation each, the body one a rollout.
  CHECK(worst_cost(once).text() == "n + 3");
  const auto nested = checked(
      "policy p\non finish of group g { when sum(sum(q.tokens for q in g.rollouts) for r in g.rollouts) > 5 tokens "
      "then drop otherwise train }");
  // The body is now a sum of its own: n (n + 1) in place of n.
  CHECK(worst_cost(nested).text() == "n^2 + n + 3");
}

TEST_CASE("an allotment asks its utility twice an element and once a unit, or once a count") {
  const auto with = [](const std::string& utility) {
    return worst_cost(checked("policy p\non finish of group g {\n  report given = sum(allot 9 over x in g.rewards, n in "
                              "0..4 maximizing " + utility + ")\n}"))
        .text();
  };
  // Greed: the budget, two bounds an element, and (2 n + u) times the utility, here the count turned into a real;
  // then the sum over the counts.
  CHECK(with("n") == "2 u + 7 n + 3");
  // Every count: five an element, each compared with each way to spend the rest, and four nodes each.
  CHECK(with("n * n") == "5 n u + 23 n + 3");
}
