// Which solver an allotment gets: what is shown to be concave, and what is not.
#include <catch2/catch.hpp>

#include "tests/lang/check_harness.h"

using allot::lang::Solver;
using allot::test::check;

namespace {

// The solver of an allotment that may look at a rate (`p`), a count (`s`) and a real of any sign (`x`). Chances over
// rollouts take a count of rollouts, everything else a plain one.
std::optional<Solver> solver(const std::string& bounds, const std::string& utility) {
  const bool rollouts = utility.find("prob(") != std::string::npos || utility.find("hit_") != std::string::npos ||
                        utility.find("prob_mixed") != std::string::npos;
  const auto checked = check(
      "policy q\nparam most: int = 8 in 0..64\nparam odd: real = 1\nparam p: prob = 0.5\nparam s: int = 2 in 0..9\n"
      "on finish of group g {\n  let x = g.reward_mean ?? odd\n"
      "  report given = sum(allot " + std::string(rollouts ? "9 rollouts" : "9") + " over i in [0, 1], n in " + bounds +
      " " + utility + ")\n  report used = if x > p and s < most then 1 else 0\n}\n");
  INFO(checked.shown);
  if (!checked.program) return std::nullopt;
  return checked.program->handlers[0].allotments.at(0).solver;
}

std::optional<Solver> maximizing(const std::string& utility, const std::string& bounds = "0..8") {
  return solver(bounds, "maximizing " + utility);
}

}  // namespace

TEST_CASE("rules that keep a curve concave") {
  for (const char* utility :
       {"n", "3 * n - 5", "p * n", "x * n", "hit_utility(beta(1 + s, 1), n)", "any_prob(p, n)",
        "2 * any_prob(p, n) + p * any_prob(0.5, n)", "any_prob(p, n) - 0.01 * (n / 1 rollout)", "-pow(p, n)", "1 - pow(1 - p, n)",
        "min(n, s + 1)", "min(any_prob(p, n), 0.1 * (n / 1 rollout))", "sqrt(n)", "sqrt(1 + any_prob(p, n))", "log(1 + n)",
        "if x > 0 then any_prob(p, n) else 0.0", "-exp(0.5 * n)", "any_prob(p, n) / 2", "p * (1 - p) * any_prob(p, n)",
        "any_prob(p, 2 * n + 1)", "x", "pow(n, 0.5)", "-pow(n, 2)", "-1 / (n + 1)", "(0 - 2) * pow(p, n)"}) {
    INFO(utility);
    CHECK(maximizing(utility) == Solver::Greedy);
  }
  CHECK(maximizing("1 - flat_prob(p, n)", "1..8") == Solver::Greedy);
  CHECK(maximizing("(1 - flat_prob(p, n)) * p * (1 - p) * (1 - p)", "2..8") == Solver::Greedy);
  CHECK(solver("2..8", "minimizing p * (1 - p) / (n - 1)") == Solver::Greedy);
  CHECK(solver("2..8", "minimizing flat_prob(p, n)") == Solver::Greedy);
  CHECK(solver("0..8", "in proportion to p") == Solver::Proportional);
}

TEST_CASE("what no rule shows is tried count by count, within the bound of HI") {
  for (const char* utility :
       {"any_prob(p, n) * any_prob(p, n)", "pow(p, n)", "x * any_prob(p, n)", "n * n", "max(n, s)", "exp(n * 0.1)",
        "any_prob(p, n mod 3)", "if n > 2 then 1.0 else 0.0", "prob_mixed(beta(1, 1), hits: 1, misses: 0, size: n)",
        "abs(n - s)", "sqrt(pow(p, n))", "-any_prob(p, n)", "any_prob(0.01 * (n / 1 rollout), 2)", "pow(n, x)", "-1 / n * x"}) {
    INFO(utility);
    CHECK(maximizing(utility, "1..8") == Solver::Exact);
  }
  CHECK(solver("3..8", "minimizing p * (n - 1) / (n * n)") == Solver::Exact);
}

TEST_CASE("the bound that HI needs comes from a number or a range") {
  CHECK(maximizing("n * n", "0..4096") == Solver::Exact);
  CHECK_FALSE(maximizing("n * n", "0..4097"));
  CHECK_FALSE(maximizing("n * n", "0..g.scored"));
  CHECK(maximizing("n", "0..4097") == Solver::Greedy);
}

TEST_CASE("counts are defined where every LO is 0, and have the unit of the budget") {
  const auto of = [](const std::string& allotment) {
    const auto checked = check("policy q\non finish of group g {\n  report given = sum(" + allotment + ")\n}\n");
    INFO(checked.shown);
    REQUIRE(checked.program);
    for (const allot::lang::Node& node : checked.program->handlers[0].nodes) {
      if (node.op == allot::lang::Op::Allot) return allot::lang::to_text(node.type);
    }
    return std::string("none");
  };
  CHECK(of("allot 9 rollouts over i in [0, 1], n in 0..8 maximizing any_prob(0.5, n)") == "vec<rollouts>");
  CHECK(of("allot 9 tokens over i in [0, 1], n in 0..8 in proportion to i") == "vec<tokens>");
  CHECK(of("allot 9 over i in [0, 1], n in 0..8 rollouts in proportion to i") == "vec<rollouts>");
  CHECK(of("allot 9 over i in [0, 1], n in 1..8 in proportion to i") == "vec<int?>");
  CHECK(of("allot 9 over i in [0, 1], n in i..8 in proportion to i") == "vec<int?>");
}

TEST_CASE("`ties: seeded` reads one draw, and leaves solver and type as they are") {
  const auto in_batch = [](const std::string& allotment) {
    return check("policy q\nhit when reward >= 1.0\non wave of batch b {\n  let extra = " + allotment +
                 "\n  sample extra more\n}\n");
  };
  for (const char* allotment :
       {"allot 8 rollouts over g in b.groups, n in 0..8 maximizing hit_utility(beta(1 + g.hits, 1 + g.misses), n)",
        "allot 8 rollouts over g in b.groups, n in 0..g.hits maximizing (g.hits / 1 rollout) * any_prob(0.5, n)"}) {
    const auto plain = in_batch(allotment);
    const auto seeded = in_batch(allotment + std::string("\n    ties: seeded \"t\""));
    INFO(seeded.shown);
    REQUIRE(plain.program);
    REQUIRE(seeded.program);
    CHECK(seeded.codes.empty());
    const auto& handler = seeded.program->handlers[0];
    CHECK(handler.allotments.at(0).solver == Solver::Greedy);
    CHECK(handler.allotments.at(0).why == plain.program->handlers[0].allotments.at(0).why + "; ties by the draw \"t\"");
    REQUIRE(handler.reads.size() == 1);
    CHECK(handler.reads[0].fact == allot::lang::Fact::Draw);
    CHECK(handler.reads[0].arguments.at(0).word == "t");
    const auto type_of = [](const allot::lang::Handler& of) {
      return of.nodes[static_cast<std::size_t>(of.rules.at(0).verdict.amount)].type;
    };
    CHECK(type_of(handler) == type_of(plain.program->handlers[0]));
  }
  // What is known of the elements of a list is known in any order of them.
  const auto listed = check("policy q\non finish of group g {\n  report given = sum(allot 9 over p in [0.2, 0.5], n in 2..8 "
                            "minimizing p * (1 - p) / (n - 1) ties: seeded \"t\")\n}\n");
  INFO(listed.shown);
  REQUIRE(listed.program);
  CHECK(listed.program->handlers[0].allotments.at(0).solver == Solver::Greedy);
}

TEST_CASE("a seeded order has a name, and exists in a run only") {
  const auto in_finish = [](const std::string& name) {
    return check("policy q\non finish of group g {\n  report given = sum(allot 9 over i in [0, 1], n in 0..8 maximizing n "
                 "ties: seeded " + name + ")\n}\n");
  };
  CHECK(in_finish("\"t\"").codes.empty());
  CHECK(in_finish("\"t{g.turn}\"").codes.count("E0318") == 1);
  CHECK_FALSE(in_finish("").program);
  const auto source =
      std::make_shared<const allot::lang::Source>("e", "allot 9 over i in [0, 1], n in 0..8 maximizing n ties: seeded \"t\"");
  allot::lang::Diagnostics diagnostics;
  CHECK_FALSE(allot::lang::check_expression(source, diagnostics));
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == "E0404");
}
