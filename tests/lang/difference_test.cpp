// What two versions of a policy differ in, and whether that breaks what is built on the first.
#include "lang/difference.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace allot;

namespace {

lang::Program program_of(const std::string& text) {
  auto source = std::make_shared<const lang::Source>("p.allot", text);
  lang::Diagnostics diagnostics;
  auto program = lang::check(source, diagnostics);
  INFO(lang::render_all(diagnostics, *source));
  REQUIRE(program);
  return *std::move(program);
}

const std::string rule = "\non finish of group g { when g.flat then drop }\n";

// "breaks parameter at: words", one a difference.
std::vector<std::string> told(const std::string& before, const std::string& after) {
  std::vector<std::string> lines;
  const lang::Program was = program_of("policy p\n" + before), is = program_of("policy p\n" + after);
  const auto found = lang::differences(was, is);
  for (const lang::Difference& each : found) {
    constexpr const char* words[] = {"adds", "decides", "breaks"};
    lines.push_back(std::string(words[static_cast<int>(each.effect)]) + " " + each.part + " " + each.name + ": " + each.words);
  }
  CHECK(lang::compatible(found) == std::none_of(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("breaks"); }));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("equal policies differ in nothing, however they are laid out") {
  CHECK(told("param a: rollouts = 1 in 0..4\non finish of group g { when g.scored < a then drop }\n",
             "# a comment\nparam a: rollouts = 1 in 0..4\non finish of group g {\n  # another\n  when g.scored < a   then drop\n}\n") == Lines{});
}

TEST_CASE("parameters") {
  const auto gate = [](const std::string& param) { return param + "\non finish of group g { when (g.reward_mean ?? 0) < a then drop }\n"; };
  const std::string was = gate("param a: real = 0.5 in 0..1");
  CHECK(told(was, gate("param a: real = 0.25 in 0..1")) == Lines{"decides parameter a: its default is 0.25, and was 0.5"});
  CHECK(told(was, gate("param a: real = 0.5 in 0..2")) == Lines{"adds parameter a: its range is 0..2, and was 0..1"});
  CHECK(told(was, gate("param a: real = 0.5 in 0..0.75")) ==
        Lines{"breaks parameter a: its range is 0..0.75, and was 0..1: values that fitted do not"});
  CHECK(told(was, gate("param a: real = 0.5 in 0.25..2"))[0].starts_with("breaks"));
  CHECK(told(was, gate("param a: real = 0.5"))[0].starts_with("adds parameter a: its range is unbounded"));
  CHECK(told(was, gate("param a: int = 0 in 0..1"))[0] == "breaks parameter a: is of type int, and was prob");
  CHECK(told(rule, was)[0].starts_with("adds parameter a: is new"));
  CHECK(told(was, rule)[0] == "breaks parameter a: is gone: a run that sets it is refused");
}

TEST_CASE("state and inputs") {
  const auto with = [](const std::string& state, const std::string& read) {
    return state + "\non finish of group g { when " + read + " > 2 then drop }\non update of batch b { report x = 1 }\n";
  };
  const std::string per_prompt = with("state n: real per prompt = 0", "n[g.prompt]");
  CHECK(told(per_prompt, with("state n: real per prompt = 1", "n[g.prompt]")) == Lines{"decides state n: begins with 1, and began with 0"});
  CHECK(told(per_prompt, with("state n: real per prompt = 0 decay 0.9", "n[g.prompt]")) == Lines{"decides state n: its decay differs"});
  const Lines lost = told(per_prompt, with("state n: beta per prompt = beta(1, 1)", "n[g.prompt].mean"));
  CHECK(lost[0] == "breaks state n: is beta per prompt, and was real per prompt: what was remembered is lost without `migrate n from real = …`");
  const Lines kept = told(per_prompt, with("state n: beta per prompt = beta(1, 1)\nmigrate n from real = beta(1 + max(old, 0), 1)", "n[g.prompt].mean"));
  CHECK(kept[0] == "decides state n: is beta per prompt, and was real per prompt: its `migrate` says what becomes of it");
  CHECK(told(per_prompt, with("state n: real per run = 0", "n"))[0].starts_with("breaks state n"));
  CHECK(told(per_prompt, rule)[0] == "adds state n: is gone: what it held per prompt is dropped");
  CHECK(told(rule, with("input n: real per prompt", "n[g.prompt]"))[0] == "breaks input n: is new: real per prompt, and the host must give it");
  CHECK(told(rule, with("input n: real? per prompt", "(n[g.prompt] ?? 0)"))[0] == "adds input n: is new: real? per prompt");
  CHECK(told(with("input n: real per prompt", "n[g.prompt]"), with("input n: int per prompt", "n[g.prompt]"))[0].starts_with("breaks input n"));
}

TEST_CASE("points, statistics, budgets, declarations, functions, reports") {
  CHECK(told(rule, "on finish of group g { when g.scored < 2 then drop }\n") == Lines{"decides point finish of group g: is answered by other rules"});
  CHECK(told(rule, rule + "on wave of group g { when g.hits > 1 then stop }\nhit when reward >= 1\n") ==
        Lines{"decides point wave of group g: is answered now, and was left to the default", "decides declaration hit: is new: hit when reward >= 1"});
  const std::string kept = "on turn 5 of group g { when (mean_pairwise(normalized_edit_distance, prefixes(g.actions, 5, padded)) ?? 1) < 0.1 then stop }\n";
  const Lines statistic = told(rule, rule + kept);
  REQUIRE(statistic.size() == 2);
  CHECK(statistic[1].starts_with("adds statistic mean_pairwise("));
  CHECK(told(rule + "budget 10 rollouts per run\n", rule + "budget 20 rollouts per run, carry over\n") ==
        Lines{"decides budget rollouts: is 20 per run, carried over, and was 10 per run"});
  CHECK(told(rule + "flat within 0.1\n", rule + "flat within 0.2\n") == Lines{"decides declaration flat: is within 0.2, and was within 0.1"});
  const std::string f = "fn f(x: real) -> real = x\n", use = "on finish of group g { when f(g.reward_mean ?? 0) > 1 then drop }\n";
  CHECK(told(f + use, "fn f(x: real) -> real = x * x\n" + use) == Lines{"decides function f: is x * x, and was x"});
  CHECK(told(f + use, "fn f(x: real) -> real = x\nfn g(x: int) -> int = x\n" + use) == Lines{"adds function g: is new"});
  CHECK(told("fn f(x: real) -> real = x\nfn h(x: int) -> int = x\n" + use, f + use) == Lines{"breaks function h: is gone: policies that import it are refused"});
  CHECK(told(f + rule, "fn f(x: real, y: real) -> real = x + y\n" + rule)[0].starts_with("breaks function f: is (x: real, y: real) -> real"));
  CHECK(told("on update of batch b { report x = 1 }\n", "on update of batch b { report y = 1 }\n") ==
        Lines{"decides point update of batch b: is answered by other rules", "decides report x: is not written any more", "adds report y: is new"});
}
