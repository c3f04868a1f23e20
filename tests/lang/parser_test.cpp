#include "lang/parser.h"

#include <catch2/catch.hpp>

#include "golden.h"
#include "parser_trees.h"

using namespace allot::lang;
using allot::test::shape;
using allot::test::to_text;

namespace {

struct Parsed {
  tree::File file;
  Diagnostics diagnostics;
  std::string shown;
};

Parsed parsed(const std::string& text) {
  const Source source("p.allot", text);
  Parsed result;
  auto file = parse(source, result.diagnostics);
  result.diagnostics.sort();
  result.shown = render_all(result.diagnostics, source);
  if (file) result.file = std::move(*file);
  return result;
}

Parsed clean(const std::string& text) {
  auto result = parsed(text);
  INFO(result.shown);
  REQUIRE(result.diagnostics.all().empty());
  return result;
}

}  // namespace

// Expected shapes follow from the order of precedence stated in lang/grammar/climb.h.
TEST_CASE("operators bind from `or`, the loosest, to the dot") {
  CHECK(shape("a or b and c or d") == "(or (or a (and b c)) d)");
  CHECK(shape("not a < b and c") == "(and (not (a < b)) c)");
  CHECK(shape("not not a or b") == "(or (not (not a)) b)");
  CHECK(shape("x ?? 1.0 < y") == "((?? x 1.0) < y)");
  CHECK(shape("(x ?? 1.0) < y") == shape("x ?? 1.0 < y"));
  CHECK(shape("a ?? b + c") == "(?? a (+ b c))");
  CHECK(shape("a - b - c") == "(- (- a b) c)");
  CHECK(shape("a + b * c mod d / e") == "(+ a (/ (mod (* b c) d) e))");
  CHECK(shape("-a * b") == "(* (- a) b)");
  CHECK(shape("-a.b[c].d") == "(- a.b[c].d)");
  CHECK(shape("a - -b") == "(- a (- b))");
  CHECK(shape("--a") == "(- (- a))");
  CHECK(shape("a < not b") == "(a < (not b))");
  CHECK(shape("a + b is undefined and c") == "(and (undefined? (+ a b)) c)");
  CHECK(shape("not x is not undefined") == "(not (defined x))");
  CHECK(shape("-(g.reward_std ?? 0)") == "(- (?? g.reward_std 0))");
}

TEST_CASE("comparisons chain in one direction") {
  CHECK(shape("0 < m <= 1") == "(0 < m <= 1)");
  CHECK(shape("a == b == c") == "(a == b == c)");
  CHECK(shape("a >= b > c") == "(a >= b > c)");
  CHECK(shape("a < b > c").find("error: `>` after `<`") == 0);
  CHECK(shape("a == b < c").find("error: `<` after `==`") == 0);
  CHECK(shape("a < b == true").find("error: `==` after `<`") == 0);
}

TEST_CASE("conditionals, comprehensions, lists and records") {
  CHECK(shape("if a then b else if c then d else e + 1") == "(if a b (if c d (+ e 1)))");
  CHECK(shape("sum(f(r) for r in g.rollouts where r.alive)") == "(sum() (for r (f() r) g.rollouts r.alive))");
  CHECK(shape("[f(r) for r in g.rollouts]") == "(list (for r (f() r) g.rollouts))");
  CHECK(shape("[[\"a\", \"b\"] * 5] * 4") == "(* (list (* (list \"a\" \"b\") 5)) 4)");
  CHECK(shape("[]") == "(list)");
  CHECK(shape("f()") == "(f())");
  CHECK(shape("f(a, hits: g.hits, size: 1 + 2)") == "(f() a hits: g.hits size: (+ 1 2))");
  CHECK(shape("group { actions: [1], turn: 10 }") == "(record group actions: (list 1) turn: 10)");
  CHECK(shape("group {}") == "(record group)");
  CHECK(shape("group + 1") == "(+ group 1)");
  CHECK(shape("where(m, a, b)") == "(where() m a b)");
  CHECK(shape("allot b.budget.left over g in b.groups, n in 0..most maximizing hit(g, n)") ==
        "(allot maximizing g: b.budget.left n: b.groups 0 most (hit() g n))");
  CHECK(shape("allot 8 over x in xs, n in 0..2 in proportion to x ties: seeded \"t\"") ==
        "(allot in proportion to x: 8 n: xs 0 2 x (draw() \"t\"))");
  CHECK(shape("f(allot 8 over x in xs, n in 0..2 maximizing x, ties: seeded \"t\")") ==
        "(f() (allot maximizing x: 8 n: xs 0 2 x) ties: (draw() \"t\"))");
  CHECK(shape("allot 8 over x in xs, n in 0..2 maximizing x ties: 3").find("error: ") == 0);
  CHECK(shape("allot(3)") == "(allot() 3)");
}

TEST_CASE("numbers keep their digits, units become plural") {
  CHECK(shape("400_000_000 tokens") == "400000000_tokens");
  CHECK(shape("1 rollout + 8 rollouts") == "(+ 1_rollouts 8_rollouts)");
  CHECK(shape("25%") == "25%");
  CHECK(shape("1e-9") == "1e-9");
  CHECK(shape("2.5E+3 seconds") == "2.5E+3_seconds");
  CHECK(shape("0.1 + 007") == "(+ 0.1 007)");
  CHECK(shape("nan").find("nan") == 0);  // a name like any other: there is no such number
  CHECK(shape("-9223372036854775808") == "-9223372036854775808");
  CHECK(shape("- 9223372036854775808") == "-9223372036854775808");
  CHECK(shape("--9223372036854775808") == "(- -9223372036854775808)");
  CHECK(shape("-9223372036854775807") == "(- 9223372036854775807)");
  CHECK(shape("9223372036854775808") == "error: 9223372036854775808 does not fit an int");
  CHECK(shape("1 - 9223372036854775808") == "error: 9223372036854775808 does not fit an int");
  CHECK(shape("-(9223372036854775808)") == "error: 9223372036854775808 does not fit an int");
  CHECK(shape("-9223372036854775809") == "error: 9223372036854775809 does not fit an int");
}

TEST_CASE("messages hold text, escapes and values") {
  CHECK(shape("\"rate {1 - x} of {{n}} \\\"q\\\" \\\\ \"") == "\"rate {(- 1 x)} of {n} \"q\" \\ \"");
  CHECK(shape("\"{f(\"in {x}\")}\"") == "\"{(f() \"in {x}\")}\"");
  CHECK(shape("\"# no comment\"") == "\"# no comment\"");
  CHECK(shape("\"\"") == "\"\"");
  CHECK(shape("\"a\\nb\"") == "\"a\nb\"");
  CHECK(shape("\"caf\xC3\xA9 \xE6\xBC\xA2\"") == "\"caf\xC3\xA9 \xE6\xBC\xA2\"");
}

TEST_CASE("spans cover what was written") {
  const std::string text = "a.b  + f(x [ 1 ] , 2) # c";
  const Source source("e", text);
  tree::File file;
  Diagnostics diagnostics;
  const auto id = parse_expression(source, file, diagnostics);
  REQUIRE(id != tree::none);
  CHECK(source.text(file[id].span) == "a.b  + f(x [ 1 ] , 2)");
  CHECK(source.text(file[file[id].args[0]].span) == "a.b");
  const auto& call = file[file[id].args[1]];
  CHECK(source.text(call.span) == "f(x [ 1 ] , 2)");
  CHECK(source.text(file[call.args[0]].span) == "x [ 1 ]");
}

TEST_CASE("every verdict of the design is read") {
  const auto verdict = [](const std::string& words) {
    const auto result = clean("policy p\non wave of group g { " + words + " }\n");
    return to_text(result.file, result.file.handlers.at(0).statements.at(0).verdict);
  };
  CHECK(verdict("continue") == "continue");
  CHECK(verdict("stop, drop, refill because \"x {y}\"") == "stop, drop, refill because \"x {y}\"");
  CHECK(verdict("stop where r.invalid > 3, leave") == "stop where (r.invalid > 3), leave");
  CHECK(verdict("sample extra more") == "sample extra");
  CHECK(verdict("sample 1 more, train") == "sample 1, train");
  CHECK(verdict("complete to size") == "complete size");
  CHECK(verdict("start 1 each, up to size") == "start 1 size");
  CHECK(verdict("start 1 each, drop") == "start 1, drop");
  CHECK(verdict("train") == "train");
  CHECK(verdict("train, refill") == "train, refill");
  CHECK(verdict("train max_variance(g.rewards, kept), normalize over subset") ==
        "train <subset> (max_variance() g.rewards kept)");
  CHECK(verdict("train, normalize over group, leave") == "train <group>, leave");
  CHECK(verdict("defer at most 4 iterations, refill") == "defer 4, refill");
  CHECK(verdict("evict until epoch + 1") == "evict (+ epoch 1)");
  CHECK(verdict("evict for good") == "evict <for good>");
  CHECK(verdict("take 3 * p.slots by weight w") == "take <by weight> (* 3 p.slots) w");
  CHECK(verdict("take where p.age > 2") == "take <where> (p.age > 2)");
  CHECK(verdict("branch 2") == "branch 2");
  CHECK(verdict("set advantages = b.advantages") == "set <advantages> b.advantages");
  CHECK(verdict("replay up to 4 by age") == "replay 4 age");
}

TEST_CASE("every declaration of the design is read") {
  const auto p = clean(R"(## About
## this policy.
policy p # trailing
## How long to wait.
param at: turns = 10 turns
param threshold: real = 0.12 in 0..1
param rate: prob in 0..0.5 = 25%
hit when raw_reward >= 1.0
flat within 1e-9
budget 400_000_000 tokens per run, carry over
budget spend per iteration
refill at most 10 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.9
state m: mat<real, 3, 3> per run = zeros(3, 3)
input difficulty: real? per prompt
fn f(x: real, y: vec<real?>) -> real? = x * sum(y)
fn one() -> int = 1
)");
  const auto& f = p.file;
  CHECK(f.policy.text == "p");
  CHECK(f.doc == "About\nthis policy.");
  REQUIRE(f.params.size() == 3);
  CHECK(f.params[0].doc == "How long to wait.");
  CHECK(f.params[0].type.name == "turns");
  CHECK(to_text(f, f.params[0].value) == "10_turns");
  CHECK(f.params[1].doc.empty());
  CHECK(to_text(f, f.params[1].type.high) == "1");
  CHECK(to_text(f, f.params[2].type.high) == "0.5");
  CHECK(to_text(f, f.params[2].value) == "25%");
  CHECK(to_text(f, f.hit) == "(raw_reward >= 1.0)");
  CHECK(to_text(f, f.flat_within) == "1e-9");
  REQUIRE(f.budgets.size() == 2);
  CHECK(to_text(f, f.budgets[0].amount) == "400000000_tokens");
  CHECK(f.budgets[0].period == "run");
  CHECK(f.budgets[0].carry_over);
  CHECK(f.budgets[1].period == "iteration");
  CHECK_FALSE(f.budgets[1].carry_over);
  REQUIRE(f.refills.size() == 1);
  CHECK(f.refills[0].then == "train_partial");
  REQUIRE(f.states.size() == 2);
  CHECK(f.states[0].scope == "prompt");
  CHECK(to_text(f, f.states[0].decay) == "0.9");
  CHECK(f.states[1].type.sizes == std::vector<std::string>{"3", "3"});
  REQUIRE(f.inputs.size() == 1);
  CHECK(f.inputs[0].type.optional);
  REQUIRE(f.functions.size() == 2);
  CHECK(f.functions[0].params.size() == 2);
  CHECK(f.functions[0].params[1].type.arguments.at(0).optional);
  CHECK(f.functions[0].result.optional);
  CHECK(f.functions[1].params.empty());
}

TEST_CASE("every decision point of the design is read") {
  const auto handler = [](const std::string& head) {
    auto result = clean("policy p\non " + head + " { continue }\n");
    auto h = result.file.handlers.at(0);
    return std::tuple{h.point, h.every, to_text(result.file, h.number), h.subject, h.variable.text};
  };
  using Head = std::tuple<std::string, bool, std::string, std::string, std::string>;
  CHECK(handler("turn at of group g") == Head{"turn", false, "at", "group", "g"});
  CHECK(handler("turn 10 of group g") == Head{"turn", false, "10", "group", "g"});
  CHECK(handler("every turn of rollout r") == Head{"turn", true, "none", "rollout", "r"});
  CHECK(handler("every 256 tokens of rollout r") == Head{"tokens", true, "256", "rollout", "r"});
  CHECK(handler("result of group g") == Head{"result", false, "none", "group", "g"});
  CHECK(handler("wave of group g") == Head{"wave", false, "none", "group", "g"});
  CHECK(handler("wave 1 of batch b") == Head{"wave", false, "1", "batch", "b"});
  CHECK(handler("size of batch b") == Head{"size", false, "none", "batch", "b"});
  CHECK(handler("finish of group g") == Head{"finish", false, "none", "group", "g"});
  CHECK(handler("update of pool p") == Head{"update", false, "none", "pool", "p"});
  CHECK(handler("select of pool p") == Head{"select", false, "none", "pool", "p"});
  CHECK(handler("shape of micro_batch b") == Head{"shape", false, "none", "micro_batch", "b"});
  CHECK(handler("epoch of pool p") == Head{"epoch", false, "none", "pool", "p"});
  const auto resume = clean("policy p\non resume of group g by -(g.reward_std ?? 0), g.age { complete to 3 }\n");
  CHECK(resume.file.handlers.at(0).keys.size() == 2);
}

TEST_CASE("statements and tests") {
  const auto p = clean(R"(policy p
on update of batch b {
  let n = count(b.ended)
  for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + 1 remember last = g.age }
  report share = n / b.slots
  warn when n == 0 because "nothing ended"
}
test "one" {
  with at = 15, size = 3 rollouts
  with low = 0.5 given g = group { hits: 1 }
  expect turn(g) is stop, drop because "x"
  expect turn(g) because "x"
  expect g.hit_rate is undefined
  expect f(g) is not undefined
  expect f(1) < 2
}
)");
  const auto& s = p.file.handlers.at(0).statements;
  REQUIRE(s.size() == 4);
  CHECK(s[0].kind == tree::StatementKind::Let);
  REQUIRE(s[1].body.size() == 2);
  CHECK(to_text(p.file, s[1].body[0].target) == "seen[g.prompt]");
  CHECK(s[2].name.text == "share");
  CHECK(to_text(p.file, s[3].verdict.because) == "\"nothing ended\"");
  const auto& t = p.file.tests.at(0);
  CHECK(t.title == "one");
  CHECK(t.settings.size() == 3);
  CHECK(t.givens.size() == 1);
  REQUIRE(t.expects.size() == 5);
  CHECK(t.expects[0].point == "turn");
  CHECK(to_text(p.file, t.expects[0].verdict) == "stop, drop because \"x\"");
  CHECK(t.expects[1].verdict.actions.empty());
  CHECK(to_text(p.file, t.expects[2].condition) == "(undefined? g.hit_rate)");
  CHECK(to_text(p.file, t.expects[3].condition) == "(defined (f() g))");
  CHECK(to_text(p.file, t.expects[4].condition) == "((f() 1) < 2)");
}

TEST_CASE("several items may share a line, one item many lines") {
  const auto p = clean(
      "policy p param a: int = 1 param b: int = a on finish of group g { train } hit when\n reward\n"
      ">= 1 refill at most 3 rounds\n  then abort\n");
  CHECK(p.file.params.size() == 2);
  CHECK(p.file.handlers.size() == 1);
  CHECK(p.file.hit != tree::none);
  CHECK(p.file.refills.size() == 1);
}

TEST_CASE("names of items that could not be read are remembered") {
  const auto p = parsed("policy p\nparam at: turns =\nstate s: beta per nothing = 1\nparam b: int = (1\nfn f(x = 1\n");
  CHECK(p.file.unread == std::vector<std::string>{"at", "s", "b", "f"});
}

TEST_CASE("a mistake in one handler leaves the others") {
  const auto p =
      parsed(allot::test::read_file(std::string(ALLOT_SOURCE_DIR) + "/tests/golden/syntax/missing_brace.allot"));
  CHECK(p.diagnostics.all().size() == 2);  // the brace, and an unrelated one in the second handler
  CHECK(p.file.handlers.size() == 1);      // the third
}

TEST_CASE("a missing `then` on line 40 of 60 is reported on line 40") {
  std::string text = "policy p\non finish of group g {\n";
  for (int line = 3; line < 60; ++line) {
    if (line == 40)
      text += "  when g.hits > 40\n";
    else if (line == 41)
      text += "    drop\n";
    else
      text += "  when g.hits > " + std::to_string(line) + " then drop\n";
  }
  text += "}\n";
  const auto p = parsed(text);
  REQUIRE(p.diagnostics.all().size() == 1);
  const Source source("p", text);
  CHECK(source.place(p.diagnostics.all()[0].span.begin).line == 40);
  CHECK(source.place(p.diagnostics.all()[0].span.begin).column == 19);
  CHECK(p.diagnostics.all()[0].message == "expected `then`");
}

TEST_CASE("the policies of the library are read") {
  for (const auto* name : {"selective_rollout", "dynamic_sampling"}) {
    const auto p = clean(allot::test::read_file(std::string(ALLOT_SOURCE_DIR) + "/stdlib/" + name + ".allot"));
    CHECK(p.file.policy.text == name);
    CHECK(p.file.handlers.size() >= 1);
  }
}
