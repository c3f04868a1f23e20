// Vectors of the posteriors, chances and tests in runtime/math.
#include <algorithm>

#include "runtime/math/beta.h"
#include "runtime/math/probability.h"
#include "runtime/math/sprt.h"
#include "runtime/math/sum.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/registry.h"

namespace allot::conformance {
namespace {

using math::Beta;

Beta belief(const Json& in) {
  return {number(in.at("a")), number(in.at("b"))};
}

Json beta_tie(const Json& in) {
  const auto marginal = [](const Json& side) {
    return math::beta_hit_marginal({number(side[0]), number(side[1])}, side[2]);
  };
  const double left = marginal(in.at("left"));
  const double right = marginal(in.at("right"));
  const double bound = 1e-12 * std::max(left, right);
  return {{"equal", left - right <= bound && right - left <= bound}, {"value", left}};
}

Json moments(const Json& in) {
  return {{"mean", math::mean(belief(in))},
          {"var", math::variance(belief(in))},
          {"expected_p1mp", math::expected_variance(belief(in))}};
}

Json anchored(const Json& in) {
  const double hits = number(in.at("anchor_correct"));
  const double weight = number(in.at("weight"));
  const Beta prior = math::observe({1, 1}, weight * hits, weight * (number(in.at("anchor_n")) - hits));
  return {{"a", prior.a}, {"b", prior.b}, {"mean", math::mean(prior)}, {"score", math::expected_variance(prior)}};
}

Json forgetting(const Json& in) {
  const Beta prior = {number(in.at("prior")[0]), number(in.at("prior")[1])};
  const double size = number(in.at("n"));
  Beta state = prior;
  for (const double rate : numbers(in.at("success_rates"))) {
    state = math::observe(math::decayed(state, prior, number(in.at("decay"))), size * rate, size * (1 - rate));
  }
  return {{"a", state.a}, {"b", state.b}, {"mean", math::mean(state)}};
}

Json economics(const Json& in) {
  const double p = number(in.at("p"));
  const int size = in.at("G");
  const int probe = in.at("m");
  const auto rule = math::abandonment(math::flat_prob(p, probe), math::flat_prob(p, size), probe, size);
  return {{"p_abandon", rule.abandoned},   {"expected_rollouts", rule.rollouts}, {"saved", rule.saved},
          {"p_false_abandon", rule.wrong}, {"yield_per_rollout", rule.yield},    {"yield_uniform", rule.yield_uniform}};
}

Json economics_of_population(const Json& in) {
  const int size = in.at("G");
  const int probe = in.at("m");
  const auto rule =
      math::abandonment(math::beta_flat(belief(in), probe), math::beta_flat(belief(in), size), probe, size);
  return {{"p_abandon", rule.abandoned},
          {"expected_rollouts", rule.rollouts},
          {"p_false_abandon", rule.wrong},
          {"p_effective_given_abandon", rule.mixed_if_abandoned}};
}

math::SprtPlan plan(const Json& in) {
  return {number(in.at("p0")), number(in.at("p1")), number(in.at("alpha")), number(in.at("beta"))};
}

Json sprt_constants(const Json& in) {
  const math::SprtConstants c = math::sprt_constants(plan(in));
  return {{"logA", c.upper},
          {"logB", c.lower},
          {"z_success", c.hit},
          {"z_failure", c.miss},
          {"asn_p0", math::sprt_size_under_h0(plan(in))},
          {"asn_p1", math::sprt_size_under_h1(plan(in))}};
}

Json sprt_run(const Json& in) {
  const math::SprtConstants c = math::sprt_constants(plan(in));
  math::SprtVerdict verdict = math::SprtVerdict::Continue;
  double ratio = 0;
  int seen = 0;
  for (const double reward : numbers(in.at("rewards"))) {
    ratio += reward > 0 ? c.hit : c.miss;
    ++seen;
    verdict = math::sprt_verdict(c, ratio);
    if (verdict != math::SprtVerdict::Continue) break;
  }
  const char* word = verdict == math::SprtVerdict::AcceptH1   ? "accept_H1"
                     : verdict == math::SprtVerdict::AcceptH0 ? "accept_H0"
                                                              : "continue";
  return {{"decision", word}, {"n", seen}, {"llr", ratio}};
}

Json sprt_operation(const Json& in) {
  const math::SprtOperation operation = math::sprt_operation(plan(in), number(in.at("p")));
  return {{"h", operation.h}, {"accept_H0", operation.accept_h0}, {"asn", operation.size}};
}

Json filter_cost(const Json& in) {
  const double kept = math::mixed_prob(number(in.at("p")), in.at("G"));
  return {{"p_kept", kept}, {"generated_per_kept_group", 1.0 / kept}};
}

template <typename F>
Json for_each(const Json& list, F function) {
  Json result = Json::array();
  for (const Json& item : list) result.push_back(function(item));
  return result;
}

// A mean over prompts for each budget.
template <typename F>
Json mean_by_budget(const Json& budgets, const Json& prompts, F chance) {
  return for_each(budgets, [&](int budget) {
    std::vector<double> chances;
    for (const Json& prompt : prompts) chances.push_back(chance(prompt, budget));
    return math::mean(chances).value();
  });
}

double any(const Json& p, int count) {
  return math::any_prob(number(p), count);
}

Json support_shift(const Json& in) {
  const Json before = mean_by_budget(in.at("budget"), in.at("before"), any);
  const Json after = mean_by_budget(in.at("budget"), in.at("after"), any);
  Json result = Json::array();
  for (std::size_t i = 0; i < before.size(); ++i) result.push_back(number(after[i]) - number(before[i]));
  return result;
}

void register_posteriors(Registry& registry) {
  registry.add("beta_hit", [](const Json& in) -> Json { return math::beta_hit(belief(in), in.at("n")); });
  registry.add("beta_hit_marginal",
               [](const Json& in) -> Json { return math::beta_hit_marginal(belief(in), in.at("j")); });
  registry.add("beta_hit_marginal_tie", beta_tie);
  registry.add("beta_expected_variance", moments);
  registry.add("prior_score", anchored);
  registry.add("mopps_update", forgetting);
  registry.add("group_effective_prior",
               [](const Json& in) -> Json { return math::prob_mixed(belief(in), 0, 0, in.at("G")); });
  registry.add("group_effective_given", [](const Json& in) -> Json {
    return math::prob_mixed({number(in.at("a0")), number(in.at("b0"))}, in.at("s"), in.at("f"), in.at("G"));
  });
}

void register_chances(Registry& registry) {
  registry.add("p_flat", [](const Json& in) -> Json { return math::flat_prob(number(in.at("p")), in.at("k")); });
  registry.add("mixed_group_probability", [](const Json& in) {
    return for_each(in.at("p"), [&in](const Json& p) { return math::mixed_prob(number(p), in.at("n")); });
  });
  registry.add("ds_cost", filter_cost);
  registry.add("expected_rollouts_to_contrast",
               [](const Json& in) -> Json { return math::rollouts_to_contrast(number(in.at("p"))); });
  registry.add("pass_at_k", [](const Json& in) -> Json { return math::pass_at_k(in.at("n"), in.at("c"), in.at("k")); });
  registry.add("trace_root_value", [](const Json& in) {
    return for_each(in.at("m"), [&in](int size) { return math::mixed_prob(number(in.at("v")), size); });
  });
  registry.add("trace_prefix_value", [](const Json& in) {
    const double v = number(in.at("v"));
    const double other = in.at("base_reward") == 1 ? 1 - v : v;
    return for_each(in.at("k"), [other](int count) { return math::any_prob(other, count); });
  });
  registry.add("effective_rewardable_support",
               [](const Json& in) { return mean_by_budget(in.at("budget"), in.at("success_prob"), any); });
  registry.add("support_from_counts", [](const Json& in) {
    return mean_by_budget(in.at("k"), in.at("successes"),
                          [&in](const Json& hits, int k) { return math::pass_at_k(in.at("n"), hits, k); });
  });
  registry.add("support_shift", support_shift);
}

void register_tests_and_rules(Registry& registry) {
  registry.add("sara_economics", economics);
  registry.add("sara_economics_beta", economics_of_population);
  registry.add("sprt_constants", sprt_constants);
  registry.add("sprt_run", sprt_run);
  registry.add("sprt_oc", sprt_operation);
}

}  // namespace

void register_allocation(Registry& registry) {
  register_posteriors(registry);
  register_chances(registry);
  register_tests_and_rules(registry);
}

}  // namespace allot::conformance
