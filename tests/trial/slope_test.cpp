// The slope of a loss, over everything that can be written with a vector of `t.logprob`: it is refused, or it is the
// derivative. A wrong one would train in silence.
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "compiler/executable.h"
#include "lang/builtins.h"
#include "lang/diagnostics.h"
#include "lang/program.h"

using namespace allot;
using lang::Argument;
using lang::ArgumentKind;
using lang::ResultKind;

namespace {

struct Checked {
  std::optional<lang::Program> program;
  std::set<std::string> errors;
  std::string shown;
};

// `x` is e to the `t.logprob`: in 0..1, and it moves.
Checked check(const std::string& loss, const std::string& before = "") {
  const std::string text = "policy p\n" + before +
                           "on loss of token t {\n  let x = exp(t.logprob)\n  " + loss + "\n}\n";
  const auto source = std::make_shared<const lang::Source>("slope.allot", text);
  lang::Diagnostics diagnostics;
  Checked result;
  result.program = lang::check(source, diagnostics);
  for (const lang::Diagnostic& each : diagnostics.all()) {
    if (each.code.starts_with("E")) result.errors.insert(each.code);
  }
  result.shown = text + lang::render_all(diagnostics, *source);
  return result;
}

struct Asked {
  double loss = 0;
  double slope = 0;
};

// Nothing where it faults.
std::optional<Asked> ask(const lang::Program& program, double logprob) {
  const auto executable = compiler::evaluate(program);
  std::vector<lang::Cell> reads(program.handlers.front().reads.size(), lang::Cell::of(logprob));  // it reads nothing else
  const std::vector<std::int64_t> sizes(lang::scope_count, 0);
  compiler::Scratch scratch;
  compiler::Frame frame;
  frame.reads = reads.data();
  frame.scope_sizes = sizes.data();
  frame.scratch = &scratch;
  compiler::Outcome outcome;
  executable->decide(0, frame, outcome);
  if (outcome.rule < 0) return std::nullopt;
  return Asked{outcome.loss.real(), outcome.slope.real()};
}

// By central differences, whose error is of order h² of the third derivative, where `x` is away from every number that the
// losses below compare it with. How often that could be asked.
int follows(const lang::Program& program) {
  int asked = 0;
  constexpr double h = 1e-5;
  for (const double logprob : {-0.05, -1.1, -1.7, -3.1}) {
    const auto at = ask(program, logprob);
    const auto above = ask(program, logprob + h);
    const auto below = ask(program, logprob - h);
    if (!at || !above || !below) continue;
    ++asked;
    INFO("at " << logprob);
    CHECK(at->slope == Approx((above->loss - below->loss) / (2 * h)).epsilon(1e-6).margin(1e-7));
  }
  return asked;
}

bool moves(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::Real:
    case ArgumentKind::Number:
    case ArgumentKind::Beta:
    case ArgumentKind::RealVector:
    case ArgumentKind::AnyVector:
    case ArgumentKind::Matrix:
    case ArgumentKind::Reals:
      return true;
    default:
      return false;
  }
}

std::string still(const Argument& argument, std::size_t index) {
  switch (argument.kind) {
    case ArgumentKind::Int: return "1";
    case ArgumentKind::Real: return "0.3";
    case ArgumentKind::Number: return index == 0 ? "0.5" : index == 1 ? "0.3" : "0.75";
    case ArgumentKind::Bool: return "false";
    case ArgumentKind::Beta: return "beta(2, 3)";
    case ArgumentKind::IntVector: return argument.name == "parents" ? "[-1, 0]" : "[0, 0]";
    case ArgumentKind::BoolVector: return "[true, false]";
    case ArgumentKind::Matrix: return "[[2, 1], [1, 3]]";
    default: return "[0.5, 0.25]";
  }
}

std::string moving(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::Real: return argument.unit >= 0 ? "x * 1 " + std::string(name(static_cast<lang::BaseUnit>(argument.unit))) : "x";
    case ArgumentKind::Number: return "x";
    case ArgumentKind::Beta: return "beta(1 + x, 2)";
    case ArgumentKind::Matrix: return "[[2 + x, x], [x, 3]]";
    default: return "[x, 0.25]";
  }
}

// The loss that a call makes: one number, whatever it gives.
std::string loss_of(const lang::Builtin& row, const std::string& call) {
  if (row.result == ResultKind::Beta) return "set loss = beta_mean(" + call + ")";
  if (gives_vector(row.result)) {
    if (!row.result_missing) return "set loss = 1.0 * sum(" + call + ")";
    return "let v = " + call + "\n  set loss = if v is undefined then 0.0 else sum(v)";
  }
  return "set loss = 1.0 * " + (row.result_optional ? "(" + call + " ?? 0)" : call);
}

}  // namespace

TEST_CASE("a built-in of what moves with t.logprob has no slope, or the right one") {
  int refused = 0;
  int followed = 0;
  for (const lang::Builtin& row : lang::builtins()) {
    if (row.hidden || row.name == "detach") continue;  // its slope is 0 by definition
    for (std::size_t which = 0; which < row.arguments.size(); ++which) {
      if (!moves(row.arguments[which].kind) || row.arguments[which].name == "ties") continue;
      std::string call(row.name);
      call += "(";
      for (std::size_t i = 0; i < row.arguments.size(); ++i) {
        const Argument& argument = row.arguments[i];
        if (argument.optional && i != which) continue;
        if (i > 0) call += ", ";
        if (argument.optional) call += std::string(argument.name) + ": ";
        call += i == which ? moving(argument) : still(argument, i);
      }
      call += ")";
      const Checked checked = check(loss_of(row, call));
      INFO(checked.shown);
      if (checked.errors == std::set<std::string>{"E0325"}) {
        ++refused;
        continue;
      }
      CHECK(checked.errors.empty());
      if (!checked.program) continue;
      ++followed;
      CHECK(follows(*checked.program) > 0);
    }
  }
  // By the table: what `language.md` lists has a slope (abs, exp, log, sqrt, tanh, the base of pow, both of min and max, all
  // of clamp, the first of within), and what gives ints alone, 0.
  CHECK(followed >= 20);
  CHECK(refused >= 60);
}

TEST_CASE("an operation over a vector of t.logprob has no slope, or the right one") {
  const std::string functions = "fn whole(v: vec<real>) -> real = sum(v)\nfn twice(v: vec<real>) -> vec<real> = v + v\n";
  for (const std::string& loss : std::vector<std::string>{
           "set loss = sum([t.logprob, 1])",
           "set loss = mean([t.logprob, 1]) ?? 0",
           "set loss = min([t.logprob, -5]) ?? 0",
           "set loss = max([t.logprob, -5]) ?? 0",
           "set loss = max(min([x, 0.5]) ?? 0, 0.1)",
           "set loss = sum([1, 2] * t.logprob)",
           "set loss = sum([x, 1] + [1, 2])",
           "set loss = sum([x, 1] / [1, 2])",
           "set loss = sum(-[x, 1])",
           "set loss = sum([[x, 1], [1, 2]] * [1, 2])",
           "set loss = sum([[1, 1], [1, 2]] * [x, 2])",
           "set loss = sum([[x, 1], [1, 2]])",
           "set loss = sum(elementwise([x, 1], [1, 2]))",
           "set loss = sum(where([true, false], [x, 1], [0.5, 2]))",
           "set loss = sum(exp([x, 1]))",
           "set loss = sum(clamp([x, 1], 0.1, 0.9))",
           "set loss = [x, 1][0]",
           "set loss = [[x, 1], [1, 2]][0, 0]",
           "set loss = sum(y for y in [x, 1])",
           "set loss = sum(y * x for y in [1, 2])",
           "set loss = sum(y for y in [x, 0.5] where y > 0.3)",
           "set loss = sum([y for y in [x, 1]])",
           "set loss = sum([y * 2 for y in [z + 1 for z in [x, 1]]])",
           "set loss = mean([y + 1 for y in [x, 0.5] where y > 0.3]) ?? 0",
           "set loss = sum(sum(y * z for z in [1.0, 2.0]) for y in [x, 1])",
           "set loss = sum([x, undefined] ?? 0.5)",
           "set loss = sum(eigenvalues([[t.logprob]]))",
           "set loss = sum(normalized([x, 1]))",
           "set loss = sum(if x > 0.5 then [x, 1] else [1, 2])",
           "let v = [t.logprob, 1]\n  set loss = sum(v)",
           "let v = [t.logprob, 1]\n  let w = v + v\n  set loss = sum(w) * x",
           "let v = [t.logprob, 1]\n  set loss = mean(v * v) ?? 0",
           "set loss = whole([x, 1])",
           "set loss = sum(twice([x, 1]))",
           "set loss = sum(softmax(twice([x, 1])))",
       }) {
    const Checked checked = check(loss, functions);
    INFO(checked.shown);
    if (checked.errors == std::set<std::string>{"E0325"}) continue;
    CHECK(checked.errors.empty());
    if (checked.program) CHECK(follows(*checked.program) > 0);
  }
}

// What counts, orders or rounds jumps: between jumps its slope is 0, as that of what is detached is.
TEST_CASE("what does not move beside t.logprob may be a vector") {
  const std::string functions =
      "fn square(a: real) -> real = a * a\nfn norm(v: vec<real>) -> real = sqrt(sum(square(a - 1) for a in v))\n";
  for (const std::string& loss : std::vector<std::string>{
           "set loss = t.logprob * sum([1, 2])",
           "set loss = t.logprob / (mean([1.5, 2]) ?? 1)",
           "set loss = t.logprob * sum(square(a + 0.5) for a in [1, 2, 3])",  // each element has an `a` of its own
           "set loss = t.logprob * x * norm([3, 2, 5])",
           "set loss = x * sum(sum(square(a * b) for a in [1.5, 2.5]) for b in [1.0, 3.0])",
           "set loss = x * sum(([1, undefined, 3] + 1.5) * 2.0)",
           "set loss = x + floor(t.logprob) + ceil(x) * 0.5 + round_even(x)",
           "set loss = x * count(y > 0.5 for y in [x, 1])",
           "set loss = t.logprob * dot([1, 2], [3, 4])",
           "set loss = t.logprob * sum(if a > x then 1.0 else 0.0 for a in [0.5, 2])",
           "set loss = t.logprob * sum(a for a in [0.5, 2] where a > x)",
           "set loss = t.logprob * (mean([floor(10 * x) * 0.5, 1]) ?? 1)",
           "let over = x > 0.5\n  set loss = x * sum(if over then a else 2 * a for a in [0.5, 2])",
       }) {
    const Checked checked = check(loss, functions);
    INFO(checked.shown);
    CHECK(checked.errors.empty());
    REQUIRE(checked.program);
    CHECK(follows(*checked.program) == 4);
  }
}

// Training does not follow what is detached, also where it stands in a vector: d/dx of x · (c + 1) is c + 1.
TEST_CASE("a vector of what is detached weighs and is not followed") {
  const Checked checked = check("set loss = t.logprob * sum([detach(t.logprob), 1])");
  INFO(checked.shown);
  REQUIRE(checked.program);
  const auto at = ask(*checked.program, -3.0);
  REQUIRE(at);
  CHECK(at->loss == 6.0);
  CHECK(at->slope == -2.0);
}
