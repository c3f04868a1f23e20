// From text to a decision: policies that the checker has read, in every engine.
#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lang/compose/library.h"
#include "lang/diagnostics.h"
#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

Program checked(const std::string& name, const std::string& text) {
  auto source = std::make_shared<const allot::lang::Source>(name, text);
  allot::lang::Diagnostics diagnostics;
  std::optional<Program> program = allot::lang::check(source, diagnostics, allot::lang::SearchPath::with_environment());
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

// The programs of the language's design that need neither matrices nor `allot`, and every other point.
TEST_CASE("answers of every point agree in every engine") {
  engines_agree(checked("pilot_commit", R"(policy pilot_commit
param pilot: rollouts = 32
param total: rollouts = 128
param low: prob = 0.125
param high: prob = 0.75
hit when reward >= 1.0
refill at most 10 rounds then train_partial

on select of pool p { take 3 * p.slots }
on size of batch b { start pilot each }
on wave 1 of group g {
  let rate = g.hit_rate ?? 0
  when rate >= 1.0               then stop, drop, refill, evict until epoch + 1
  when rate < low or rate > high then stop, drop, refill because "pilot rate {rate}"
  otherwise defer at most 4 iterations, refill
}
on resume of group g by -(g.reward_std ?? 0), g.age { complete to total }
)"));
  engines_agree(checked("pods", R"(policy pods
param kept: rollouts = 16
on finish of group g { train max_variance(g.rewards, kept), normalize over subset }
)"));
  engines_agree(checked("answers", R"(policy answers
param most: iterations = 4
hit when reward >= 1.0
state belief: beta per prompt = beta(1, 1)
state hard: real per category = 0.5
state looks: int per group = 0

on select of pool p {
  when p.size < 2 prompts then take where not q.seen
  when p.evicted > 2 prompts then take p.slots by weight belief[q].learnability
  otherwise take 2 * p.slots by hard[q.category] + draw("order")
}
on every turn of rollout r {
  let jump = max(r.turn_entropies) ?? 0.0
  when (r.last_entropy ?? 0) > (r.first_entropy ?? 0) + 0.5 then branch 2 because "entropy {r.last_entropy ?? 0}"
  when jump > 2.0 or looks > 3 then stop
  otherwise continue
}
on every 256 tokens of rollout r { when (r.logprob ?? 0) < -3.0 then stop }
on wave 1 of batch b {
  let middle = mean(g.reward_variance ?? 0 for g in b.groups) ?? 0.0
  when count(g for g in b.groups) < 2 groups then stop
  when middle > 1.0 then complete to 8
  otherwise sample [if (g.reward_variance ?? 0) >= middle then 2 else 0 for g in b.groups] more
}
on finish of group g {
  remember looks = looks + 1
  when g.flat then drop, evict until epoch + 2
  when g.scored < 2 then drop, readmit
  otherwise train g.rewards > 0
}
on score of rollout r { set reward = if r.truncated then r.reward - 0.5 else min(r.reward, 1.0) }
on shape of group g {
  when g.scored < 2 then set advantages = g.advantages
  otherwise set advantages = g.rewards - (g.reward_mean ?? 0), set baseline = g.reward_mean ?? 0,
    set weights = [if (r.class ?? 0) > 1 then 0.5 else 1.0 for r in g.rollouts]
}
on shape of micro_batch b {
  when b.size < 2 then set baseline = [r.reward ?? 0 for r in b.rollouts]
  otherwise set advantages = where(b.advantages > 0, b.advantages, 0.5 * b.advantages), set weights = b.groups
}
on replay of batch b { replay up to b.empty by g.age, max_age most }
on expand of batch b {
  branch [if (a.value ?? 0.5) * (1 - (a.value ?? 0.5)) > 0.2 and a.turn < a.turns then 1 else 0 for a in b.anchors]
}
on update of pool p {
  for each q in p.known { remember belief[q] = observe(belief[q], q.hits, q.misses) }
}
on epoch of pool p {
  evict where (q.hit_rate ?? 0) > 0.9 until (if q.groups > 3 groups then epoch + 4 else epoch + 1),
    readmit where q.evicted and (q.evicted_until is undefined)
}
)"));
}

TEST_CASE("a hole that faults takes no other scratch in one engine than in another: what follows has as much left") {
  const Program program = checked("hole", R"(policy hole
on finish of group g {
  let order = argsort(g.rewards)
  let ones = [1.0 for r in g.rollouts]
  otherwise drop because "{g.alive / (g.alive - g.alive) + sum(order)} {g.scored}"
  report spread = sum(argsort(ones))
}
)");
  const auto evaluator = evaluate(program);
  bool ran_out = false, had_enough = false;
  for (std::size_t cells = 0; cells < 80; ++cells) {
    Memory memory = blank(program, 4);
    Scratch scratch(cells);
    const Answer expected = ask(*evaluator, program, memory, scratch);
    (expected.outcome.fault == FaultKind::OutOfMemory ? ran_out : had_enough) = true;
    for (const Optimize level : {Optimize::None, Optimize::Full}) {
      const auto native = compile(program, level);
      REQUIRE(native);
      Memory again = blank(program, 4);
      Scratch own(cells);
      const Answer answer = ask(**native, program, again, own);
      INFO(cells << " cells");
      CHECK(answer == expected);
    }
  }
  CHECK((ran_out && had_enough));
}
