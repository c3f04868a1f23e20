// Decision points, verdicts, state and declarations (language.md §3 and §4), whole programs.
#include <catch2/catch.hpp>
#include <vector>

#include "check_harness.h"

using namespace allot::lang;
using allot::test::check;
using Codes = std::multiset<std::string>;

namespace {

struct Case {
  std::string text;
  Codes codes;
};

void run(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const auto checked = check(std::string("policy p\n") + c.text + "\n");
    INFO(c.text << "\n" << checked.shown);
    CHECK(checked.codes == c.codes);
  }
}

}  // namespace

TEST_CASE("a point reads what is known there") {
  run({{"on turn 10 of group g { when (g.reward_mean ?? 0) < 0.1 then stop }", {"E0301"}},
       {"on turn 10 of group g { when any(g.rewards > 1) then stop }", {"E0301"}},
       {"on turn 10 of group g { when any(r.scored for r in g.rollouts) then stop }", {"E0301"}},
       {"on turn 10 of group g { when g.tokens > 100 and g.errors < 2 then stop }", {}},
       {"on result of group g { when (g.reward_mean ?? 0) < 0.1 then stop }", {}},
       {"on size of batch b { start [if g.started > 1 then 1 else 2 for g in b.ended] each }", {"E0302"}},
       {"on finish of group g { when g.hits < 1 then drop }", {"E0312"}},
       {"on finish of group g { when count(r for r in g.rollouts where r.hit ?? false) < 1 then drop }", {"E0312"}},
       {"hit when reward >= 1.0\non finish of group g { when g.hits < 1 then drop }", {}}});
}

TEST_CASE("a point says what can be carried out there") {
  run({{"on turn 10 of group g { sample 1 more }", {"E0304"}},
       {"on finish of group g { stop }", {"E0304"}},
       {"on wave of group g { continue }", {"E0304"}},
       {"on result of group g { stop where r.turns > 3 }", {"E0304"}},
       {"on turn 10 of group g { stop where r.turns > 3 }", {}},
       {"on size of batch b { start 4 each, up to 8 }", {}},
       {"on size of batch b { stop }", {"E0304"}},
       {"on size of batch b { report x = 1 }", {"E0304"}},
       {"on update of batch b { stop }", {"E0304"}},
       {"on turn 10 of group g { stop, drop, leave }", {}},
       {"on turn 10 of group g { stop, train, drop }", {"E0305"}},
       {"on turn 10 of group g { branch 2 }", {"E0304"}},
       {"on every turn of rollout r { branch 2 }", {}},
       {"on every turn of rollout r { drop }", {"E0304"}},
       {"on wave of group g { defer at most 4 iterations }", {"E0321"}},
       {"on wave of group g { defer at most 4 iterations }\non resume of group g by g.age { complete to 8 }", {}},
       {"on finish of group g { defer at most 4 iterations }", {"E0304"}},
       {"on wave of group g { stop, drop, evict for good }", {}},
       {"on wave of group g { stop, drop, evict until epoch + 1 }", {}},
       {"on wave of group g { stop, drop, evict until 3 rollouts }", {"E0215"}},
       {"on wave of group g { stop, drop, evict until 3, readmit }", {"E0305"}},
       {"on wave of group g { stop, drop, evict }", {"E0322"}},
       {"on wave of group g { stop, drop, evict }\non epoch of pool p { readmit where q.evicted }", {}},
       {"on wave of group g { evict where g.flat for good }", {"E0304"}},
       {"on epoch of pool p { evict for good }", {"E0304"}},
       {"on epoch of pool p { evict where q.seen until epoch + 1, readmit where not q.seen }", {}},
       {"on epoch of pool p { stop }", {"E0304"}},
       {"on wave of batch b { sample 1 more }", {}},
       {"on wave of batch b { sample [if g.started < 4 then 2 else 0 for g in b.groups] more }", {}},
       {"on wave of batch b { sample [1 for p in b.prompts] more }", {"E0220"}},
       {"on wave of batch b { drop }", {"E0304"}},
       {"on result of group g { branch 1 }", {"E0304"}},
       {"on finish of group g { train max_variance(g.rewards, 4), normalize over subset }", {}},
       {"on finish of group g { train g.rewards > 0 }", {}},
       {"on finish of group g { train g.rewards }", {"E0201"}},
       {"on wave of group g { sample 0.5 more }", {"E0201"}},
       {"on wave of group g { sample -1 more }", {"E0306"}},
       {"on wave of group g { complete to g.turn }", {"E0215"}},
       {"on wave of group g { drop, sample 2 more }", {"E0305"}},
       {"on wave of group g { complete to 9, drop, refill }\nrefill at most 2 rounds then abort", {"E0305"}},
       {"on wave of group g { defer at most 2 iterations, sample 2 more }\non resume of group g { complete to 8 }", {"E0305"}},
       {"on resume of group g { drop, complete to 9 }", {"E0305"}},
       {"on result of group g { drop, sample 2 more }", {"E0305"}},
       {"on wave of group g { stop, drop }", {}},
       {"on wave of group g { train, sample 2 more }", {}},
       {"on size of batch b { start 8 each, up to 4 }", {"E0216"}},
       {"on size of batch b { start 4 each, up to 4 }", {}},
       {"on size of batch b { start 0 each }", {"E0306"}},
       {"on size of batch b { when epoch > 3 then start 0 each\n otherwise start 8 each }", {}},
       {"param n: rollouts = 0\non size of batch b { start n each }", {}},
       {"on finish of group g { train [0, -1] }", {"E0216"}},
       {"on finish of group g { train [0, 1] }", {}}});
}

TEST_CASE("handlers of one point") {
  run({{"on turn 5 of group g { continue }\non turn 10 of group g { stop }", {}},
       {"on turn 5 of group g { continue }\non turn 5 of group g { stop }", {"E0308"}},
       {"on every turn of group g { continue }\non turn 5 of group g { stop }", {}},
       {"on wave 1 of group g { stop }\non wave of group g { sample 1 more }", {}},
       {"on wave of group g { stop }\non wave of group h { stop }", {"E0308"}},
       {"on wave of group g { stop }\non wave of batch b { stop }", {"E0309"}},
       {"on turn 0 of group g { stop }", {"E0306"}},
       {"param at: turns = 0\non turn at of group g { stop }", {"E0306"}},
       {"param at: rollouts = 3\non turn at of group g { stop }", {"E0215"}},
       {"on turn of group g { stop }", {"E0303"}},
       {"on finish 3 of group g { train }", {"E0303"}},
       {"on finish of batch b { train }", {"E0303"}},
       {"on turn 10 of rollout r { stop }", {"E0303"}},
       {"on every 256 tokens of rollout r { stop }", {}},
       {"on every 256 tokens of group g { stop }", {"E0303"}},
       {"on update of pool p { report x = 1 }", {}},
       {"on update of rollout r { report x = 1 }", {"E0303"}},
       {"on shape of micro_batch b { set advantages = b.advantages }", {}},
       {"on select of pool p { take 3 * p.slots }", {}},
       {"on select of group g { take 3 }", {"E0303"}},
       {"on select of pool p { report x = 1 }", {"E0304"}},
       {"on turn 10 of group g, ahead: run { stop }", {}},
       {"on every turn of group g, ahead: run { stop }", {"E0303"}},
       {"on wave of group g by g.age { stop }", {"E0303"}},
       {"on resume of group g by -(g.reward_std ?? 0), g.age { complete to 8 }", {}},
       {"on resume of group g by g.reward_std { complete to 8 }", {"E0118"}},
       {"on resume of group g { complete to 8 }", {}},
       {"on loss of token t { report x = 1 }", {"E0326"}}});
}

TEST_CASE("points that answer with no verdict") {
  run({{"on select of pool p { take p.slots by q.reward_std }", {}},
       {"hit when reward >= 1.0\non select of pool p { take p.slots by weight 1 - (q.hit_rate ?? 0.5) }", {}},
       {"on select of pool p { take p.slots by [q.groups for q in p.prompts] }", {}},
       {"on select of pool p { take p.slots by [q.groups for q in p.known] }", {"E0220"}},
       {"on select of pool p { take p.slots by q.seen }", {"E0204"}},
       {"on select of pool p { take where not q.seen }", {}},
       {"on select of pool p { take where q.last_iteration > 3 }", {"E0118"}},
       {"on select of pool p { take -1 }", {"E0306"}},
       {"on select of pool p { take 3 tokens }", {"E0215"}},
       {"on select of pool p { take p.slots by q.hit_rate }", {"E0312"}},
       {"on score of rollout r { set reward = r.reward - 0.001 * (r.tokens / 1 tokens) }", {}},
       {"on score of rollout r { set advantages = r.reward }", {"E0324"}},
       {"on score of rollout r { set reward = r.advantage }", {"E0301"}},
       {"on score of rollout r { set reward = 1, set reward = 2 }", {"E0305"}},
       {"on shape of group g { set advantages = g.advantages, set weights = [1.0 for r in g.rollouts] }", {}},
       {"on shape of group g { set baseline = g.reward_mean ?? 0 }", {}},
       {"on shape of group g { set advantages = 1.0 }", {"E0220"}},
       {"on shape of group g { set advantage = g.advantages }", {"E0324"}},
       {"on finish of group g { when any(g.advantages > 1) then drop }", {"E0301"}},
       {"on shape of micro_batch b { set advantages = b.rewards }", {"E0118"}},
       {"on shape of micro_batch b { set advantages = [r.advantage * 2 for r in b.rollouts] }", {}},
       {"on shape of micro_batch b { set weights = [1 for r in b.rollouts] }", {}},
       {"on shape of micro_batch b { set weights = b.turns }", {"E0215"}},
       {"on shape of micro_batch b { set weights = b.turns / 1 turn, set baseline = b.tokens }", {"E0215"}},
       {"on shape of group g { set advantages = [r.tokens * 0.5 for r in g.rollouts] }", {"E0215"}},
       {"on shape of group g { set advantages = [r.tokens / g.tokens for r in g.rollouts] }", {}},
       {"on replay of batch b { replay up to b.empty by g.age, max_age 4 iterations }", {}},
       {"on replay of batch b { replay up to b.empty by g.age }", {"E0323"}},
       {"on replay of batch b { replay up to b.empty by g.age, max_age 0 iterations }", {"E0306"}},
       {"on replay of batch b { replay up to b.empty by g.age, max_age 3 turns }", {"E0215"}},
       {"on wave of group g { defer at most 0 iterations }\non resume of group g { complete to 8 }", {"E0306"}},
       {"on replay of batch b { replay up to 2 by [-(g.reward_std ?? 0) for g in b.stored], max_age 4 }", {}},
       {"on wave of batch b { report x = count(g for g in b.stored) }", {"E0302"}},
       {"on expand of batch b { branch [if (a.value ?? 0.5) > 0.5 then 1 else 0 for a in b.anchors] }", {}},
       {"on expand of batch b { branch 2 }", {"E0220"}},
       {"on every turn of rollout r { when count((x ?? 0) > 1 for x in r.turn_entropies) > 2 turns then stop }", {}},
       {"on finish of group g { report x = sum(sum(r.turn_entropies) for r in g.rollouts) }", {"E0302"}},
       {"on every turn of rollout r { when (r.last_entropy ?? 0) > (r.first_entropy ?? 0) then branch 1 }", {}},
       {"on every turn of rollout r { when r.scored then stop }", {"E0301"}},
       {"state seen: int per prompt = 0\non update of pool p { for each q in p.known { remember seen[q] = seen[q] + 1 } }",
        {}},
       {"state hard: real per category = 0.5\non finish of group g { when hard[g.category] > 1 then drop }", {}},
       {"state hard: real per category = 0.5\non finish of group g { when hard[g.prompt] > 1 then drop }", {"E0201"}},
       {"state hard: real per category = 0.5\non finish of group g { remember hard[g.category] = 1 }", {"E0310"}}});
}

TEST_CASE("a gate on rewards that a `score` handler shapes is warned of, once a handler") {
  const std::string score = "on score of rollout r { set reward = r.reward - 0.1 }\n";
  run({{score + "on finish of group g { when g.flat then drop\n when (g.reward_mean ?? 0) > 1 then train }", {"W0505"}},
       {score + "on finish of group g { when (std(g.raw_rewards, 0) ?? 0) == 0 then drop }", {}},
       {score + "hit when reward >= 1.0\non finish of group g { when g.hits < 1 then drop }", {}},
       {score + "on finish of group g { report x = g.reward_mean\n train }", {}}});
}

TEST_CASE("rules are reached") {
  run({{"on finish of group g { when g.flat then drop\n otherwise train }", {}},
       {"on finish of group g { otherwise train\n when g.flat then drop }", {"E0307"}},
       {"on finish of group g { train\n otherwise drop }", {"E0307"}},
       {"on finish of group g { when g.flat then drop\n when g.flat then train }", {"W0503"}},
       {"on finish of group g { when true then drop }", {"W0502"}},
       {"on finish of group g { when (g.reward_std ?? 0) < 0 then drop }", {"W0502"}},
       {"on finish of group g { when g.scored >= 0 then drop }", {"W0502"}},
       {"param t: real = 0.5 in 0..1\non finish of group g { when t > 2 then drop }", {"W0502"}},
       {"on finish of group g { when draw(\"b\") > 1 then drop }", {"W0502"}},
       {"on finish of group g { when draw(\"b\") >= 0 then drop }", {"W0502"}},
       {"on finish of group g { when draw(\"b\") < 0.5 then drop }", {}},
       {"on turn 3 of group g { when g.turn != 3 then stop }", {"W0502"}},
       {"on turn 3 of group g { when g.turn > 3 then stop }", {"W0502"}},
       {"on turn 3 of group g, ahead: run { when g.turn > 3 then stop }", {}},  // when the last one behind has ended
       {"on every turn of group g { when g.turn > 3 then stop }", {}},
       {"param at: turns = 3\non turn at of group g { when g.turn > 3 then stop }", {}},
       {"on finish of group g { when g.flat and not g.flat then drop }", {"W0502"}},
       {"on finish of group g { when g.scored > 3 or not (g.scored > 3) then drop }", {"W0502"}},
       {"on finish of group g { when g.scored > 3 and not (g.scored > 4) then drop }", {}},
       {"on finish of group g { when 0 < (g.reward_mean ?? 0) < 1 then train }", {"W0504"}},
       {"on finish of group g { when mean(g.rewards) is not undefined and g.flat then drop }", {}},
       {"on finish of group g { let m = g.reward_mean ?? 0\n when m > 0.1 and m < 0.9 then train }", {"W0504"}},
       {"on finish of group g { when (g.reward_mean ?? 0) > 0.5 then train }", {}}});
}

TEST_CASE("what is written twice in one place is lost the first time") {
  const std::string group = "state a: int per group = 0\n";
  run({{group + "on finish of group g { remember a = 1\n remember a = a + 1 }", {"W0508"}},
       {"on finish of group g { report z = g.ended\n report z = g.alive }", {"W0508"}},
       {"on finish of group g { report z = g.ended\n report z = g.reward_mean }", {}},  // where it is undefined the first stays
       {"state s: int per prompt = 0\non update of batch b { for each g in b.ended { remember s[g.prompt] = 1\n remember s[g.prompt] = 2 } }",
        {"W0508"}}});
}

// At a barrier a statement sees what was written before it, and where an effect faults what was written before stays.
TEST_CASE("what is looked at before it is written again is not lost") {
  const std::string run_state = "state n: real per run = 0\nstate usual: real per run = 0\n";
  const std::string prompt_state = "state n: int per prompt = 0\nstate m: int per prompt = 0\n";
  const auto at_update = [&](const std::string& body) {
    return run_state + "on update of batch b { " + body + " }\non finish of group g { when n + usual > 9 then drop }";
  };
  const auto of_prompts = [&](const std::string& body) {
    return prompt_state + "on update of batch b { for each g in b.ended { " + body +
           " } }\non finish of group g { when n[g.prompt] + m[g.prompt] > 9 then drop }";
  };
  run({{at_update("remember n = 0\n for each g in b.ended { remember n = n + 1 }\n remember usual = n * 1.0\n remember n = 0"), {}},
       {at_update("remember n = 1\n for each g in b.ended { report k = n }\n remember n = 5"), {}},
       {at_update("let twice = n * 2\n remember n = 1\n report now = n\n remember n = twice"), {}},
       {at_update("let twice = n * 2\n remember n = 1\n remember n = twice"), {}},
       {at_update("let twice = n * 2\n remember n = 1\n report now = twice\n remember n = 3"), {}},
       {at_update("remember n = 1\n warn when n > usual because \"more\"\n remember n = 3"), {}},
       {of_prompts("remember n[g.prompt] = 0\n for each h in b.ended { remember n[g.prompt] = n[g.prompt] + 1 }\n "
                   "remember m[g.prompt] = m[g.prompt] + n[g.prompt]\n remember n[g.prompt] = 0"),
        {}},
       {at_update("let twice = n * 2\n report before = twice\n remember n = 1\n remember usual = 2\n remember n = 3"), {"W0508"}},
       {at_update("remember n = n + 1\n remember n = 2"), {"W0508"}},
       {at_update("remember n = 1\n report k = n\n remember n = 2\n remember n = 3"), {"W0508"}},
       {at_update("report a = 2.0\n report a = n / usual"), {}},
       {at_update("report a = 2.0\n report a = sqrt(n)"), {}},
       {at_update("report a = 2.0\n report a = n / 2"), {"W0508"}}});
}

TEST_CASE("refills end") {
  run({{"on finish of group g { when g.flat then drop, refill }", {"E0402"}},
       {"refill at most 3 rounds then abort\non finish of group g { when g.flat then drop, refill }", {}},
       {"refill at most 0 rounds then abort\non finish of group g { when g.flat then drop, refill }", {"E0306"}}});
}

TEST_CASE("state is written where it belongs") {
  run({{"state s: int per prompt = 0\non update of batch b { for each g in b.ended { remember s[g.prompt] = "
        "s[g.prompt] + 1 } }",
        {}},
       {"state s: int per prompt = 0\non finish of group g { remember s[g.prompt] = s[g.prompt] + 1 }", {"E0310"}},
       {"state s: int per run = 0\non finish of group g { remember s = s + 1 }", {"E0310"}},
       {"state s: int per run = 0\non update of batch b { remember s = s + 1 }", {}},
       {"state s: int per group = 0\non finish of group g { remember s = s + 1 }", {}},
       {"state s: int per group = 0\non update of batch b { remember s = 1 }", {"E0311"}},
       {"state s: int per group = 0\non update of batch b { report s = s }", {"E0311"}},
       {"state s: int per prompt = 0\non finish of group g { when s > 1 then drop }", {"E0319"}},
       {"state s: int per run = 0\non finish of group g { when s[g.prompt] > 1 then drop }", {"E0319"}},
       {"state s: int per category = 0\non finish of group g { train }", {"W0501"}},
       {"state s: vec<real, 3> per prompt = 0\non finish of group g { train }", {"E0221"}},
       {"state s: vec<real, 3> per prompt = [0, 1]\non finish of group g { train }", {"E0220"}},
       {"state s: vec<real, 3> per prompt = [0, 1, undefined]\non finish of group g { train }", {"E0118"}},
       {"state s: vec<real> per prompt = [0, 1]\non finish of group g { train }", {"E0202"}},
       {"state s: vec<real?, 2> per prompt = [0, 1]\non finish of group g { train }", {"E0202"}},
       {"state s: mat<real, 9, 8> per run = [[0]]\non finish of group g { train }", {"E0202"}},
       {"state s: mat<int, 2, 2> per run = [[0, 1], [1, 0]]\non finish of group g { train }", {"E0202"}},
       {"state s: mat<real, 2> per run = [[0, 1], [1, 0]]\non finish of group g { train }", {"E0202"}},
       {"state s: vec<prob, 2> per prompt = [0.5, 1]\non finish of group g { when s[g.prompt][1] > 0.5 then drop }", {}},
       {"state s: vec<prob, 2> per prompt = [0.5, 1.5]\non finish of group g { when s[g.prompt][1] > 0.5 then drop }",
        {"E0201"}},
       {"state s: mat<real, 2, 2> per prompt = [[0, 1], [1, 0]]\non finish of group g { when s[g.prompt][0, 1] > 0.5 "
        "then drop }",
        {}},
       {"state s: mat<real, 2, 2> per prompt = [[0, 1], [1, 0]]\non finish of group g { when s[g.prompt, 1] > 0.5 then "
        "drop }",
        {"E0319"}},
       {"state s: mat<real, 2, 2> per run = [[0, 1], [1, 0]]\non finish of group g { when s[0, 2] > 0.5 then drop }",
        {"E0216"}},
       {"state s: mat<real, 2, 2> per run = [[0, 1], [1, 0]] decay 0.9\non update of batch b { remember s = s * s }", {}},
       {"state s: mat<real, 2, 2> per run = [[0, 1], [1, 0]]\non update of batch b { remember s = s * [1, 2] }",
        {"E0221"}},
       {"state s: int per prompt = undefined\non finish of group g { when s[g.prompt] > 1 then drop }", {"E0118"}},
       {"state s: real? per prompt = undefined\non finish of group g { when (s[g.prompt] ?? 0) > 1 then drop }", {}},
       {"state s: prob per run = 0.5\non update of batch b { remember s = s * 2 }", {"E0201"}},
       {"state s: prob per run = 0.5\non update of batch b { remember s = clamp(s * 2, 0, 1) }", {}},
       {"on update of batch b { remember s = 1 }", {"E0101"}},
       {"param s: int = 1\non update of batch b { remember s = 1 }", {"E0109"}}});
}

TEST_CASE("statistics know their lengths before the run") {
  run({{"on turn 10 of group g { when (mean_pairwise(edit_distance, prefixes(g.actions, g.turn, padded)) ?? 9) < 1 "
        "then stop }",
        {}},
       {"on turn 10 of group g { when (min_pairwise(bigram_jaccard, prefixes(g.actions, 5, unpadded)) ?? 9) < 1 then "
        "stop }",
        {}},
       {"on turn 10 of group g { when (unique_ratio(actions_at(g.actions, 10)) ?? 1) < 0.5 then stop }", {}},
       {"on turn 10 of group g { when (agreement(actions_at(g.actions, g.turn + 1)) ?? 1) < 0.5 then stop }",
        {"E0313"}},
       {"on turn 10 of group g { when (agreement(actions_at(g.actions, 0)) ?? 1) < 0.5 then stop }", {"E0306"}},
       {"on turn 10 of group g { when (agreement(actions_at(g.actions, 4 tokens)) ?? 1) < 0.5 then stop }", {"E0215"}},
       {"param k: rollouts = 4\non turn 10 of group g { when (agreement(actions_at(g.actions, k)) ?? 1) < 0.5 then "
        "stop }",
        {"E0215"}},
       {"on turn 10 of group g { when (mean_pairwise(hamming, prefixes(g.actions, 5, padded)) ?? 9) < 1 then stop }",
        {"E0317"}},
       {"on turn 10 of group g { when (mean_pairwise(edit_distance, prefixes(g.actions, 5)) ?? 9) < 1 then stop }",
        {"E0318"}},
       {"on turn 10 of group g { when mean_pairwise(edit_distance, prefixes(g.actions, 5, padded)) < 1 then stop }",
        {"E0118"}},
       {"on turn 10 of group g { when any(loop(r.actions, 2) for r in g.rollouts) then stop }", {}},
       {"on turn 10 of group g { when loop(g.actions, 2) then stop }", {"E0318"}},
       {"on finish of group g { when draw() < 0.5 and draw() < 0.5 then drop }", {"E0314"}},
       {"on finish of group g { when draw(\"a\") < 0.5 and draw() < 0.5 then drop }", {}}});
}

TEST_CASE("declarations") {
  run({{"param a: int = 1\nparam a: int = 2\non finish of group g { report a = a }", {"E0102"}},
       {"param iteration: int = 1\non finish of group g { train }", {"E0103"}},
       {"param a: real = 2 in 0..1\non finish of group g { report a = a }", {"E0216"}},
       {"param a: prob = 1.5\non finish of group g { report a = a }", {"E0216"}},
       {"param a: int = 3 in 5..1\non finish of group g { report a = a }", {"E0216"}},
       {"param a: real? = 3\non finish of group g { report a = a }", {"E0202"}},
       {"param a: turns = 3 tokens\non finish of group g { report a = a }", {"E0215"}},
       {"param a: int = -9223372036854775808\non finish of group g { report a = a }", {}},
       {"param size: rollouts = 8\non finish of group g { when size(g.rewards) > 3 and g.started < size then drop }",
        {}},
       {"param a: int = 1\non finish of group g { train }", {"W0501"}},
       {"on finish of group g { let a = 1\n train }", {"W0501"}},
       {"param a: int = 1\non finish of group g { let a = 2\n report x = a }", {"W0104", "W0501"}},
       {"on finish of group g { report x = sum(g.tokens for g in g.rollouts) }", {"W0104"}},
       {"param mean: real = 1\non finish of group g { report x = mean }", {"W0104"}},
       {"state clamp: int per run = 0\non finish of group g { report x = clamp }", {"W0104"}},
       {"on finish of group g { let entropy = 1\n report x = entropy }", {"W0104"}},
       {"budget 100 tokens per run\non wave of group g { when budget.left < 10 then stop }", {}},
       {"budget 100 tokens per run\nbudget 10 calls per run\non wave of group g { when budget.left < 10 then stop }",
        {"E0316"}},
       {"budget 100 turns per run\non wave of group g { stop }", {"E0403"}},
       {"input difficulty: real? per prompt\non finish of group g { train }", {"W0501"}},
       {"hit when reward\non finish of group g { train }", {"E0203"}},
       {"hit when rewrd > 1\non finish of group g { train }", {"E0101"}},
       {"hit when reward >= -12 and turns < 5\non finish of group g { when g.hits > 0 then train }", {}}});
}

TEST_CASE("tests are looked into before they run") {
  const auto in_test = [](const std::string& test) {
    return "param a: real = 0.5 in 0..1\nparam at: turns = 3\nstate seen: int per prompt = 0\non turn at of group g { when "
           "a > 0.2 and seen[g.prompt] > 1 then stop\n otherwise continue }\non finish of group g { train }\ntest \"t\" "
           "{ " + test + " }";
  };
  const std::string g = "given g = group { rewards: [1, 0] }\n";
  run({{in_test(g + "expect finish(g) is train"), {}},
       {in_test("with a = 1\nwith at = 4\ngiven seen = 3\n" + g + "expect finish(g) is train"), {}},
       {in_test(g + "expect finish(g) is drop, train"), {"E0305"}},
       {in_test(g + "expect turn(g) is stop, continue"), {"E0305"}},
       {in_test(g + "expect turn(g) is stop, stop where [1]"), {"E0305"}},
       {in_test(g), {"E0320"}},
       {in_test(""), {"E0320"}},
       {in_test(g + "expect finish(h) is train"), {"E0101"}},
       {in_test("given g = group { rewards: [1], rewards: [0] }\nexpect finish(g) is train"), {"E0305"}},
       {in_test("given g = group { reward: [1] }\nexpect finish(g) is train"), {"E0105"}},
       {in_test("given b = batch { reword: 1 }\n" + g + "expect finish(g) is train"), {"E0105"}},
       {in_test("given seen = 0.5\n" + g + "expect finish(g) is train"), {"E0201"}},
       {in_test("given seen = \"a\"\n" + g + "expect finish(g) is train"), {"E0204"}},
       {in_test("given seen = 2 + 1\n" + g + "expect finish(g) is train"), {"E0404"}},
       {in_test("given g = group { rewards: [1, 0], started: 2 rollouts * (1) }\nexpect finish(g) is train"), {"E0404"}},
       {in_test("given g = group { tokens: 2 rollouts * ([10 turns] * 1) }\nexpect finish(g) is train"), {"E0215"}},
       {in_test("given sen = 3\n" + g + "expect finish(g) is train"), {"E0320"}},
       {in_test(g + g + "expect finish(g) is train"), {"E0102"}},
       {in_test("with a = 1.5\n" + g + "expect finish(g) is train"), {"E0216"}},
       {in_test("with at = 0.5\n" + g + "expect finish(g) is train"), {"E0201"}},
       {in_test("with at = 3 tokens\n" + g + "expect finish(g) is train"), {"E0215"}},
       {in_test("with att = 3\n" + g + "expect finish(g) is train"), {"E0101"}},
       {in_test("with at = 3, at = 4\n" + g + "expect finish(g) is train"), {"E0102"}},
       {in_test(g + "expect wave(g) is stop"), {"E0320"}}});
  const auto near = check("policy p\non finish of group g { train }\ntest \"t\" { given g = group { reward: [1] }\nexpect "
                          "finish(g) is train }");
  CHECK(near.shown.find("did you mean `rewards`?") != std::string::npos);
}

TEST_CASE("words agree with what they stand before, and the need is named before what is given") {
  const auto broken = check("policy p\nstate s: int per run = 0.5\non update of batch b { remember s = s + 1 }\n");
  CHECK(broken.shown.find("the initial value of `s` must be a whole number") != std::string::npos);
  const auto hidden =
      check("policy p\nfn f(x: real) -> real = sum(x for x in [1.0, 2.0])\non finish of group g { report y = f(1) }\n");
  INFO(hidden.shown);
  CHECK(hidden.shown.find("hides an argument") != std::string::npos);
}

TEST_CASE("an expression of its own may walk lists, and is told that it has no run") {
  const auto shown = [](const std::string& text) {
    const auto source = std::make_shared<const allot::lang::Source>("expression", text);
    allot::lang::Diagnostics diagnostics;
    (void)allot::lang::check_expression(source, diagnostics);
    return allot::lang::render_all(diagnostics, *source);
  };
  for (const char* const fine : {"sum(x for x in [1,2,3] where x > 1)", "count(x for x in [1, undefined])",
                                 "mean([2 * x for x in [1,2]])", "any(x > y for x in [1,2])"}) {
    INFO(fine);
    CHECK((shown(fine).empty() || std::string(fine).find(" y ") != std::string::npos));
  }
  for (const char* const run : {"iteration", "epoch + 1", "draw(\"a\")", "budget.left"}) {
    INFO(run << "\n" << shown(run));
    CHECK(shown(run).find("is known in a run only") != std::string::npos);
    CHECK(shown(run).find("write a literal") == std::string::npos);
  }
  for (const char* const seeded : {"allot 3 over x in [1, 1], n in 0..1 maximizing x * n ties: seeded \"a\"",
                                   "argsort([1, 1], ties: seeded \"a\")"}) {
    INFO(seeded << "\n" << shown(seeded));
    CHECK(shown(seeded).find("`allot eval` has no run: leave `ties:` out") != std::string::npos);
  }
}

TEST_CASE("a file with too many parts is not read on, and a long chain of functions has a bound") {
  const auto chain = [](int count) {
    std::string text = "policy p\nfn f0(x: real) -> real = x\n";
    for (int i = 1; i < count; ++i) {
      text += "fn f" + std::to_string(i) + "(x: real) -> real = f" + std::to_string(i - 1) + "(x) + 1.0\n";
    }
    return check(text + "on finish of group g { train }\n").codes;
  };
  CHECK(chain(20'000) == Codes{"E0024"});
  CHECK(chain(1900) == Codes{"E0108"});
  CHECK(chain(20).count("E0108") == 0);
}

TEST_CASE("several mistakes are told in one run, each once") {
  const auto checked = check(
      "policy p\nparam at: turns = 10\non turn at of group g { when g.reward_mean < 0.1 then stop }\non finish of "
      "group g { when g.tokens >= at then drop, refill }\non wave of group g { when threshold > 1 then stop }\n");
  INFO(checked.shown);
  CHECK(checked.codes == Codes{"E0101", "E0214", "E0301", "E0402"});
}

TEST_CASE("names of items that could not be read are not blamed") {
  const auto checked =
      check("policy p\nparam at: turns =\nparam t: real = 0.5\non turn at of group g { when t < 0.1 then stop }\n");
  INFO(checked.shown);
  CHECK(checked.codes.size() == 1);
  CHECK(checked.codes.begin()->substr(0, 3) == "E00");
}
