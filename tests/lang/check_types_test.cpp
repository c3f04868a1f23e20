// Types, units and undefined (language.md §4), one expression each in a handler of `finish`.
#include <catch2/catch.hpp>
#include <vector>

#include "check_harness.h"

using allot::test::check;
using allot::test::check_in_finish;
using Codes = std::multiset<std::string>;

namespace {

struct Case {
  const char* expression;
  Codes codes;
};

void run(const std::vector<Case>& cases, const std::string& before = "") {
  for (const Case& c : cases) {
    const auto checked = check_in_finish(c.expression, before);
    INFO(c.expression << "\n" << checked.shown);
    CHECK(checked.codes == c.codes);
    bool error = false;
    for (const std::string& code : checked.codes) error = error || code[0] == 'E';
    CHECK(checked.program.has_value() == !error);
  }
}

std::string type_of(const std::string& expression, const std::string& before = "") {
  const auto checked = check_in_finish(expression, before);
  INFO(expression << "\n" << checked.shown);
  REQUIRE(checked.program);
  const auto& handler = checked.program->handlers.at(0);
  return to_text(handler.nodes.at(static_cast<std::size_t>(handler.effects.at(0).value)).type);
}

}  // namespace

TEST_CASE("units are checked, and a bare literal takes the unit it meets") {
  run({{"g.tokens + 1", {}},
       {"g.tokens + 1 tokens", {}},
       {"1 + g.tokens", {}},
       {"g.tokens + 1.5", {}},
       {"g.tokens + 1 turns", {"E0213"}},
       {"g.tokens - g.turn", {"E0213"}},
       {"g.tokens > g.turn", {"E0214"}},
       {"g.turn == 10", {}},
       {"g.turn == 10 tokens", {"E0214"}},
       {"g.tokens / g.started > 100", {}},
       {"g.tokens / g.started > 100 tokens", {"E0214"}},
       {"g.hits / g.started < 0.5", {}},
       {"g.started * g.turn > 80", {}},
       {"iteration mod 10 == 0", {}},
       {"g.tokens mod g.turn", {"E0213"}},
       {"max(g.started, 4)", {}},
       {"max(g.started, g.turn)", {"E0213"}},
       {"min(1, g.started, 3)", {}},
       {"if g.flat then g.tokens else g.turn", {"E0213"}},
       {"if g.flat then g.tokens else 0", {}},
       {"sqrt(g.tokens / 1 tokens)", {}},
       {"sqrt(g.tokens)", {"E0215"}},
       {"floor(g.tokens / 2)", {}}});
}

TEST_CASE("the type of an expression") {
  CHECK(type_of("g.started / 2") == "real in rollouts");
  CHECK(type_of("g.tokens / g.started") == "real in tokens / rollout");
  CHECK(type_of("g.hits / g.scored") == "real");
  CHECK(type_of("3 * g.started") == "rollouts");
  CHECK(type_of("1 / 2") == "real");
  CHECK(type_of("7 mod 2") == "int");
  CHECK(type_of("25%") == "prob");
  CHECK(type_of("1 - 25%") == "prob");
  CHECK(type_of("floor(g.tokens / 2)") == "tokens");
  CHECK(type_of("g.hit_rate") == "prob?");
  CHECK(type_of("g.hit_rate ?? 0") == "prob");
  CHECK(type_of("g.reward_mean ?? 0") == "real");
  CHECK(type_of("count(r for r in g.rollouts where r.alive)") == "rollouts");
  CHECK(type_of("count(g.rewards > 0.5)") == "rollouts");
  CHECK(type_of("mean(r.tokens for r in g.rollouts)") == "real in tokens?");
  CHECK(type_of("sum(r.tokens for r in g.rollouts)") == "tokens");
  CHECK(type_of("max(r.tokens for r in g.rollouts)") == "tokens?");
  CHECK(type_of("all(r.alive for r in g.rollouts)") == "bool");
  CHECK(type_of("variance(g.rewards, 0)") == "real?");
  CHECK(type_of("size(g.rewards)") == "int");
  CHECK(type_of("if g.flat then 2 else 0.5") == "real");
  CHECK(type_of("if g.flat then g.reward_mean else undefined") == "real?");
  CHECK(type_of("beta(1, 1).mean") == "prob");
  CHECK(type_of("f(g.started)", "fn f(n: rollouts) -> real = n / 2 rollouts") == "real");
}

TEST_CASE("what may be undefined must be met") {
  run({{"g.hit_rate + 1", {"E0118"}},
       {"(g.hit_rate ?? 0) + 1", {}},
       {"g.hit_rate < 0.5", {"E0118"}},
       {"not (g.hit_rate < 0.5)", {"E0118"}},
       {"0 < g.hit_rate < 1", {"E0118"}},
       {"g.hit_rate is undefined or g.hit_rate < 0.5", {}},
       {"g.hit_rate is not undefined and g.hit_rate < 0.5", {}},
       {"g.hit_rate is undefined and g.hit_rate < 0.5", {"E0118"}},
       {"g.hit_rate is not undefined or g.hit_rate < 0.5", {"E0118"}},
       {"not (g.hit_rate is undefined) and g.hit_rate < 0.5", {}},
       {"if g.hit_rate is undefined then 0 else g.hit_rate", {}},
       {"if g.hit_rate is undefined then g.hit_rate + 1 else 0", {"E0118"}},
       {"(g.hit_rate is undefined or g.reward_mean is undefined) or g.hit_rate < (g.reward_mean)", {}},
       {"clamp(g.reward_mean, 0, 1)", {"E0118"}},
       {"mean(g.rewards) + 1", {"E0118"}},
       {"sum(g.rewards) + 1", {}},
       {"sum(g.rewards - 0.5)", {}},
       {"any(g.rewards > 0.5)", {}},
       {"sum(r.reward for r in g.rollouts)", {}},
       {"sum(r.reward + 1 for r in g.rollouts)", {"E0118"}},
       {"sum(r.reward + 1 for r in g.rollouts where r.reward is not undefined)", {}},
       {"count(r for r in g.rollouts where r.reward > 0)", {"E0118"}},
       {"g.scored is undefined", {"W0502"}},
       {"g.scored ?? 1", {"W0502"}},
       {"g.reward_mean ?? g.hit_rate ?? 0", {}}});
}

TEST_CASE("an earlier rule narrows later rules, but not effects") {
  const auto rules = [](const std::string& body) {
    return check("policy p\nhit when reward >= 1.0\non finish of group g {\n" + body + "\n}\n");
  };
  CHECK(
      rules("when g.hit_rate is undefined then drop\nwhen g.hit_rate < 0.2 then drop\notherwise train").codes.empty());
  CHECK(rules("let rate = g.hit_rate\nwhen rate is undefined then drop\nwhen rate < 0.2 then drop").codes.empty());
  CHECK(rules("when g.hit_rate is not undefined then train\nwhen g.hit_rate < 0.2 then drop").codes == Codes{"E0118"});
  CHECK(rules("when g.hit_rate is undefined then drop\nreport twice = g.hit_rate * 2").codes == Codes{"E0118"});
  CHECK(rules("when g.hit_rate is undefined then drop\nlet x = g.hit_rate * 2\nwhen x > 1 then train").codes.empty());
  CHECK(rules("when g.hit_rate is undefined then drop\nlet x = g.hit_rate * 2\nwhen x > 1 then train\nreport x = x")
            .codes == Codes{"E0118"});
  CHECK(rules("when g.hit_rate is undefined then drop because \"{g.hit_rate}\"\notherwise train").codes.empty());
}

TEST_CASE("types that do not fit") {
  run({{"g.flat + 1", {"E0204"}},
       {"not g.scored", {"E0204"}},
       {"g.flat < true", {"E0204"}},
       {"g.flat == true", {}},
       {"g.prompt == g.prompt", {}},
       {"g.prompt == 1", {"E0204"}},
       {"if g.scored then 1 else 2", {"E0203"}},
       {"g.scored and g.flat", {"E0203"}},
       {"if g.flat then 1 else true", {"E0204"}},
       {"g.rewards", {"E0221"}},
       {"sum(g.scored)", {"E0221"}},
       {"sqrt(true)", {"E0201"}},
       {"sum([1, true])", {"E0204"}},
       {"sum([])", {"E0204"}},
       {"g.actions", {"E0109"}},
       {"g.rollouts", {"E0109"}},
       {"g", {"E0109"}},
       {"min", {"E0109"}},
       {"nothing", {"E0101"}},
       {"nothing + nothing_else", {"E0101", "E0101"}},
       {"(nothing + 1) * 2 < 3", {"E0101"}},
       {"g.nothing", {"E0105"}},
       {"nothing(1)", {"E0106"}},
       {"g.rewards[0]", {}},
       {"\"text\"", {"E0204"}}});
}

// What is never asked for cannot fault: a branch not taken, what follows a known `and` or `or`, a part after `??`.
TEST_CASE("what would fault where nothing looks is no mistake") {
  run({{"if 2 > 1 then 1 else 1 / 0", {}},
       {"if 2 < 1 then 1 / 0 else 1", {}},
       {"if 2 < 1 and 1 / 0 > 0 then 1 else 2", {}},
       {"if 2 > 1 or 1 mod 0 == 0 then 1 else 2", {}},
       {"if 2 > 1 then 1 / 0 else 1", {"E0230"}},
       {"if g.flat then 1 / 0 else 1", {"E0230"}},
       {"if 2 > 1 and 1 / 0 > 0 then 1 else 2", {"E0230"}}});
}

TEST_CASE("literals that are sure to fault are told at compile time") {
  run({{"1 / 0", {"E0230"}},
       {"1 mod 0", {"E0230"}},
       {"0.0 / 0.0", {"E0230"}},
       {"1e308 * 10", {"E0230"}},
       {"9223372036854775807 + 1", {"E0230"}},
       {"-9223372036854775808 - 1", {"E0230"}},
       {"-9223372036854775808 * -1", {"E0230"}},
       {"-(-9223372036854775808)", {"E0230"}},
       {"abs(-9223372036854775808)", {"E0230"}},
       {"-9223372036854775808 mod -1", {}},
       {"-9223372036854775808 / -1", {}},
       {"-9223372036854775808", {}},
       {"beta(0, 1).mean", {"E0230"}},
       {"sqrt(-1)", {"E0230"}},
       {"log(0)", {"E0230"}}});
}

TEST_CASE("vectors of one scope combine element by element") {
  run({{"sum(g.rewards * 2)", {}},
       {"sum(g.rewards + g.raw_rewards)", {}},
       {"sum(where(g.rewards > 0.5, g.rewards, 0))", {}},
       {"count(g.rewards > 0 and g.rewards < 1)", {}},
       {"count(not (g.rewards > 0))", {}},
       {"sum(max(g.rewards, 0))", {}},
       {"sum([r.tokens for r in g.rollouts] * 2)", {}},
       {"sum(g.rewards + [1, 2])", {"E0220"}},
       {"sum(top(g.rewards, 2) + bottom(g.rewards, 2))", {}},
       {"sum(g.rewards * top(g.rewards, 2))", {"E0220"}},
       {"sum([1, 2] + [1, 2, 3])", {"E0220"}},
       {"dot(g.rewards, [1, 2])", {"E0220"}},
       {"dot(g.rewards, g.raw_rewards)", {}},
       {"sum(x * 2 for x in g.rewards)", {"E0118"}},
       {"sum((x ?? 0) * 2 for x in g.rewards)", {}},
       {"sum(sum(r.tokens for r in g.rollouts) for s in g.rollouts)", {}},
       {"std([r.reward for r in g.rollouts where r.alive], 1)", {}}});
}

TEST_CASE("elements are read by their position") {
  run({{"[1, 2][1]", {}},
       {"[1, 2][2]", {"E0216"}},
       {"[1, 2][-1]", {"E0216"}},
       {"[1, 2][0.5]", {"E0201"}},
       {"[1, 2][0, 1]", {"E0221"}},
       {"[[1, 2], [3, 4]][1, 1]", {}},
       {"[[1, 2], [3, 4]][1]", {"E0221"}},
       {"[[1, 2], [3, 4]][2, 0]", {"E0216"}},
       {"g.rewards[0] + 1", {"E0118"}},
       {"(g.rewards[0] ?? 0) + 1", {}},
       {"if g.rewards[0] is undefined then 0 else g.rewards[0] + 1", {}},
       {"g.scored[0]", {"E0204"}}});
}

TEST_CASE("matrices are written row by row, and multiplied as in linear algebra") {
  run({{"([[1, 2], [3, 4]] * [1, 2])[0]", {}},
       {"([[1, 2], [3, 4]] * [1, 2, 3])[0]", {"E0220"}},
       {"([1, 2] * [[1, 2], [3, 4]])[0]", {"E0220"}},
       {"([[1, 2], [3, 4]] + [1, 2])[0, 0]", {"E0220"}},
       {"([[1, 2], [3, 4]] + [[1, 2]])[0, 0]", {"E0220"}},
       {"([[1, 2], [3, 4]] / 2)[0, 0]", {}},
       {"[[1, 2], [3]][0, 0]", {"E0204"}},
       {"[[1, 2], 3][0, 0]", {"E0204"}},
       {"[[1, 2], [3, g.tokens]][0, 0]", {}},
       {"transpose([1, 2])[0, 0]", {"E0221"}},
       {"([[1, 2], [3, 4]] * g.rewards)[0]", {"E0118"}},
       {"([[1, 2], [3, 4]] * (g.rewards ?? 0))[0]", {"E0220"}}});
  CHECK(type_of("([[1, 2], [3, 4]] * [1, 2])[0]") == "real");
}

TEST_CASE("numbers are refined by a range") {
  run({{"limited(5)", {}}, {"limited(65)", {"E0216"}}, {"limited(floor(g.reward_mean ?? 0))", {}}},
      "fn limited(n: int in 1..64) -> int in 1..8 = min(n, 8)");
  run({{"half(0.5)", {}}, {"half(g.reward_mean ?? 0)", {"E0201"}}}, "fn half(p: real in 0..1) -> real in 0..1 = p * 0.5");
  run({{"wide(3)", {"E0216"}}}, "fn wide(x: real) -> real in 0..2 = 3.5");
  run({{"odd(1)", {"E0202"}}}, "fn odd(x: bool in 0..1) -> real = 1");
}

TEST_CASE("a vector that may be undefined as a whole is met before it is used") {
  run({{"sum(inverse_diagonal([[2, 1], [1, 2]]))", {"E0118"}},
       {"if inverse_diagonal([[2, 1], [1, 2]]) is undefined then 0 else 1", {}},
       {"sum(inverse_diagonal([[2, 1], [1, 2]]) ?? [0.5, 0.5])", {}},
       {"inverse_diagonal([[2, 1], [1, 2]])[0]", {"E0118"}}});
  run({{"sum(maybe([[2, 1], [1, 2]]))", {}}},
      "fn maybe(m: mat<real, 2, 2>) -> vec<real> = inverse_diagonal(m) ?? [0.5, 0.5]");
  const auto checked = check("policy p\non finish of group g {\n  let d = inverse_diagonal([[2, 1], [1, 2]])\n  when d is "
                             "undefined then drop\n  when sum(d) > 1 then drop\n  otherwise train\n}\n");
  INFO(checked.shown);
  CHECK(checked.program);
}

// The program of the design.
TEST_CASE("the Gram matrix of a micro-batch is read, its eigenspace may be undefined") {
  const auto checked = check(R"(policy salt
param rho: real = 1.0 in 0..4
param most: int = 64 in 1..1024
on shape of micro_batch b {
  let k     = clamp(round_even(rho * participation_ratio(b.gram)), 1, min(most, b.size - 1))
  let basis = top_eigenspace(b.gram, k)
  let calm  = clamp(1 - effective_count(b.gram, b.advantages), 0, 1)
  when basis is undefined then set advantages = b.advantages
  otherwise set advantages = project(basis, b.advantages) + calm * reject(basis, max(b.advantages, 0))
}
)");
  INFO(checked.shown);
  CHECK(checked.program);
}

TEST_CASE("functions are put in place of their calls") {
  run({{"square(2)", {}},
       {"square(g.reward_mean ?? 0)", {}},
       {"square(g.reward_mean)", {"E0118"}},
       {"square(g.tokens)", {"E0215"}},
       {"square()", {"E0110"}},
       {"square(1, 2)", {"E0110"}},
       {"square(y: 1)", {"E0110"}},
       {"square(x: 1)", {}}},
      "fn square(x: real) -> real = x * x");
  run({{"first([1, 2, 3])", {}},
       {"first([1, 2])", {"E0220"}},
       {"first(g.rewards)", {"E0220"}},
       {"first([[1, 2, 3]])", {"E0221"}}},
      "fn first(v: vec<real, 3>) -> real = v[0] + v[1] * v[2]");
  run({{"turned([[1, 2], [3, 4]])[0, 1]", {}}, {"turned([1, 2])[0, 1]", {"E0221"}}},
      "fn turned(m: mat<real, 2, 2>) -> mat<real, 2, 2> = [[0, 1], [1, 0]] * m");
  run({{"total([1, 2, 3])", {}}, {"total(g.rewards ?? 0)", {}}, {"total(g.rewards)", {"E0118"}}},
      "fn total(v: vec<real>) -> real = sum(v)");
  run({{"a(1)", {"E0107"}}}, "fn a(x: real) -> real = b(x)\nfn b(x: real) -> real = a(x)");
  run({{"a(1)", {"E0101"}}}, "fn a(x: real) -> real = y");
  run({{"a(0.5)", {}}, {"a(g.reward_mean ?? 0)", {"E0201"}}, {"a(1.5)", {"E0216"}}}, "fn a(x: prob) -> real = x");
  const auto shown = check_in_finish("a(1)", "fn a(x: real) -> real = b(x)\nfn b(x: real) -> real = a(x)").shown;
  CHECK(shown.find("a → b → a") != std::string::npos);
}

TEST_CASE("functions that double at each link meet the limit") {
  std::string functions = "fn f0(x: real) -> real = x * x + x\n";
  for (int i = 1; i < 20; ++i) {
    std::string before("f");
    before.append(std::to_string(i - 1));
    functions.append("fn f").append(std::to_string(i)).append("(x: real) -> real = ");
    functions.append(before).append("(x) + ").append(before).append("(x)\n");
  }
  const auto checked = check_in_finish("f19(0.5)", functions);
  INFO(checked.shown);
  CHECK(checked.codes == Codes{"E0108"});
}

// Eight loops in each other are allowed, nine are not, whether they are written in place or come with a function; loops
// after each other are as many as one likes.
TEST_CASE("loops stand in few others, so that what they cost together stays small") {
  const auto nested = [](int loops) {
    std::string text = "1";
    for (int i = 0; i < loops; ++i) text = "sum(" + text + " for r" + std::to_string(i) + " in g.rollouts)";
    return text;
  };
  CHECK(check_in_finish(nested(3)).codes == Codes{});
  CHECK(check_in_finish(nested(4)).codes == Codes{"W0506"});  // n^4: more than the eigenvalues of a matrix
  CHECK(check_in_finish(nested(8)).codes == Codes{"W0506"});
  CHECK(check_in_finish(nested(9)).codes == Codes{"E0007"});
  CHECK(check_in_finish("sum(f(" + nested(7) + ") for q in g.rollouts)", "fn f(x: int) -> int = x + x\n").codes ==
        Codes{"W0506"});
  CHECK(check_in_finish("sum(f(" + nested(8) + ") for q in g.rollouts)", "fn f(x: int) -> int = x + x\n").codes ==
        Codes{"E0007"});
  std::string chain = nested(8);
  for (int i = 0; i < 20; ++i) chain += " + sum(1 for q" + std::to_string(i) + " in g.rollouts)";
  CHECK(check_in_finish(chain).codes == Codes{"W0506"});
  // A matrix is walked row by row: n^3 in one loop is n^4.
  const std::string gram = "outer([r.tokens / 1 tokens for r in g.rollouts], [r.tokens / 1 tokens for r in g.rollouts])";
  CHECK(check_in_finish("sum(participation_ratio(" + gram + ") for q in g.rollouts)").codes == Codes{"W0506"});
  CHECK(check_in_finish("participation_ratio(" + gram + ")").codes == Codes{});
}
