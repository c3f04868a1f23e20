// From text to a decision: policies that the checker has read, in every engine.
#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lang/diagnostics.h"
#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

Program checked(const std::string& name, const std::string& text) {
  auto source = std::make_shared<const allot::lang::Source>(name, text);
  allot::lang::Diagnostics diagnostics;
  std::optional<Program> program = allot::lang::check(source, diagnostics);
  INFO(allot::lang::render_all(diagnostics, *source));
  REQUIRE(program);
  return *std::move(program);
}

Program file(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return checked(path, text.str());
}

// Each handler as a program of its own.
std::vector<Program> handlers(const Program& program) {
  std::vector<Program> all;
  for (const Handler& handler : program.handlers) {
    all.push_back(program);
    all.back().handlers = {handler};
  }
  return all;
}

void engines_agree(const Program& program) {
  for (const Program& one : handlers(program)) {
    const Engines engines(one);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const std::string difference = engines.difference(seed);
      if (!difference.empty()) FAIL(difference);
    }
  }
}

// The rule that answers a frame with one read.
int rule_for(const Program& program, Cell read) {
  Memory memory = blank(program, 4);
  REQUIRE(memory.reads.size() == 1);
  memory.reads = {read};
  Scratch scratch;
  const int rule = ask(*evaluate(program), program, memory, scratch).outcome.rule;
  for (const Optimize level : {Optimize::None, Optimize::Full}) {
    const auto compiled = compile(program, level);
    REQUIRE(compiled);
    CHECK(ask(**compiled, program, memory, scratch).outcome.rule == rule);
  }
  return rule;
}

}  // namespace

TEST_CASE("the policies of the standard library decide alike in every engine") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/stdlib")) {
    if (entry.path().extension() != ".allot") continue;
    INFO(entry.path().string());
    engines_agree(file(entry.path().string()));
    ++count;
  }
  CHECK(count >= 2);
}

// As the comment of the policy says: below the threshold of 0.12 stop, without pairs never.
TEST_CASE("selective_rollout stops what has converged") {
  const Program program = file(ALLOT_SOURCE_DIR "/stdlib/selective_rollout.allot");
  CHECK(rule_for(program, Cell::of(0.11)) == 0);
  CHECK(rule_for(program, Cell::of(0.12)) == 1);
  CHECK(rule_for(program, Cell::undefined()) == 1);
}

// Part F of the reference's faults, as parameters that `--set` may give any value.
TEST_CASE("integer edges of a checked policy fault alike") {
  const std::string head = "policy edges\nparam a: int = 1\nparam b: int = 1\non finish of group g {\n"
                           "  when ";
  struct Edge {
    const char* expression;
    FaultKind fault;
  };
  for (const Edge& edge : {Edge{"a mod b == 0", FaultKind::None}, Edge{"a * b == 0", FaultKind::IntegerOverflow},
                           Edge{"-a == 0", FaultKind::IntegerOverflow}, Edge{"abs(a) == 0", FaultKind::IntegerOverflow},
                           Edge{"a - 1 == 0", FaultKind::IntegerOverflow},
                           Edge{"a mod (b + 1) == 0", FaultKind::DivisionByZero},
                           Edge{"1.0 / (b + 1) == 0.0", FaultKind::DivisionByZero}}) {
    INFO(edge.expression);
    const Program program = checked("edges", head + edge.expression + " then drop\n  otherwise train\n}\n");
    Memory memory = blank(program, 4);
    memory.parameters = {Cell::of(INT64_MIN), Cell::of(std::int64_t{-1})};
    Scratch scratch;
    const Answer expected = ask(*evaluate(program), program, memory, scratch);
    CHECK(expected.outcome.fault == edge.fault);
    CHECK(expected.outcome.rule == (edge.fault == FaultKind::None ? 0 : -1));
    for (const Optimize level : {Optimize::None, Optimize::Full}) {
      const auto compiled = compile(program, level);
      REQUIRE(compiled);
      CHECK(ask(**compiled, program, memory, scratch) == expected);
    }
  }
}

TEST_CASE("functions, lets, vectors, state and effects of checked text agree in every engine") {
  engines_agree(checked("many", R"(policy many
param limit: real = 0.5 in 0..1
param least: rollouts = 2
hit when reward >= 1.0
state belief: beta per prompt = beta(1, 1)
state seen: int per prompt = 0
state best: rollouts per run = 0
fn square(x: real) -> real = x * x
fn spread(x: real, y: real) -> real = square(x - y) + square(x + y)

on finish of group g {
  let rate = g.hit_rate ?? 0
  let high = max(g.rewards) ?? 0
  let scale = if high > 1 then high else 1.0
  let total = sum(square((r.reward ?? 0) / scale) for r in g.rollouts where r.scored)
  let mixed = prob_mixed(belief[g.prompt], hits: g.hits, misses: g.misses, size: 8)
  when g.flat or g.scored < least then drop because "{g.scored} scored, total {total}"
  when any(r.scored and (r.reward ?? 0) > 3 for r in g.rollouts) then train because "rate {rate}"
  when spread(rate, total) > limit and mixed > 0.1 then train max_variance(g.rewards, 2) because "mixed {mixed}"
  otherwise train
}

on update of batch b {
  report groups_seen = count(g for g in b.ended)
  warn when count(g for g in b.ended) == 0 because "nothing ended"
  for each g in b.ended {
    remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)
    remember seen[g.prompt] = seen[g.prompt] + 1
  }
  remember best = max(best, max(g.hits for g in b.ended) ?? 0)
}
)"));
}
