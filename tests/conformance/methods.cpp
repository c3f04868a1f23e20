// Vectors of the methods: which of their rules say what, asked of the language.
#include "runtime/allocation/variance.h"
#include "runtime/math/probability.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/language.h"
#include "tests/conformance/registry.h"

namespace allot::conformance {
namespace {

// One expression that gives the whole answer.
Adapter rule(std::string expression) {
  return [expression = std::move(expression)](const Json& in) { return asked(expression, in); };
}

// An object, one expression a key.
Adapter rules(std::map<std::string, std::string> expressions) {
  return [expressions = std::move(expressions)](const Json& in) {
    Json result;
    for (const auto& [key, expression] : expressions) result[key] = asked(expression, in);
    return result;
  };
}

// Σ of an expression over items, each with its count as `n`.
Json total(const std::string& expression, const Json& inputs, const std::string& item, const Json& items,
           const Json& counts) {
  Json terms = Json::array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    terms.push_back(asked(expression, with(inputs, {{item, items[i]}, {"n", counts[i]}})));
  }
  return asked("sum({terms})", {{"terms", terms}});
}

// ---- allotting

Json hora(const Json& given) {
  Json in = given;
  in["a"] = given.at("prior")[0];
  in["b"] = given.at("prior")[1];
  in["most"] = given.at("cap").is_null() ? given.at("budget") : given.at("cap")[0];  // the caps of a vector are equal
  const Json extra = asked(
      "allot {budget} rollouts over s in {successes}, n in 0..{most} "
      "maximizing hit_utility(beta({a} + s, {b} + {G0} - s), n)",
      in);
  return {{"extra", extra},
          {"spent", asked("sum({extra})", {{"extra", extra}})},
          {"total_hit", total("hit_utility(beta({a} + {s}, {b} + {G0} - {s}), {n})", in, "s", in.at("successes"), extra)}};
}

Json knapsack(const Json& in) {
  const std::string value = "(1 - flat_prob(p, n)) * p * (1 - p) * (1 - p)";
  const Json counts = asked("allot {budget} rollouts over p in {p}, n in {low}..{high} maximizing " + value, in);
  const std::string one = "(1 - flat_prob({q}, {n})) * {q} * (1 - {q}) * (1 - {q})";
  return {{"N", counts}, {"value", total(one, in, "q", in.at("p"), counts)}};
}

Json trace(const Json& in) {
  if (in.at("value") == "trace_root") {
    const Json counts = asked(
        "allot {budget} rollouts over v in {v}, n in {m_min}..{m_max} maximizing 1 - flat_prob(v, n)", in);
    return {{"m", counts}, {"total", total("1 - flat_prob({q}, {n})", in, "q", in.at("v"), counts)}};
  }
  Json same = Json::array();  // the chance that a continuation ends as the rollout that was seen
  for (const Json& item : in.at("items")) {
    same.push_back(asked("{base_reward} * {v} + (1 - {base_reward}) * (1 - {v})", item));
  }
  const Json all = with(in, {{"same", same}});
  const Json counts =
      asked("allot {budget} over s in {same}, n in {m_min}..{m_max} maximizing 1 - pow(s, n)", all);
  return {{"k", counts}, {"total", total("1 - pow({s}, {n})", all, "s", same, counts)}};
}

// RLOO is convex in n and solved by greed; Dr. GRPO is not known to be, so every count is tried.
Json vip(const Json& in) {
  const bool rloo = in.at("estimator") == "rloo";
  const auto estimator = rloo ? allocation::Estimator::Rloo : allocation::Estimator::DrGrpo;
  const auto sizes = allocation::real_sizes(estimator, numbers(in.at("p")), number(in.at("budget")),
                                            number(in.at("L")), number(in.at("U")));
  const std::string variance = rloo ? "p * (1 - p) / (n - 1)" : "p * (1 - p) * (n - 1) / (n * n)";
  const Json counts = asked("allot {budget} over p in {p}, n in {L}..{U} minimizing " + variance, in);
  const std::string one = rloo ? "4 * {q} * (1 - {q}) / ({n} - 1)" : "4 * {q} * (1 - {q}) * ({n} - 1) / ({n} * {n})";
  return {{"lambda", sizes->price},
          {"continuous", sizes->sizes},
          {"integer", counts},
          {"objective_integer", total(one, in, "q", in.at("p"), counts)}};
}

// Of a plan whose price moves: first what would be given without the run's budget, then within it.
Json cero(const Json& given) {
  Json in = given;
  in["gamma"] = asked("1 / sqrt({K})", in);
  in["R"] = asked("{B} / {M}", in);
  Json a = Json::array(), b = Json::array(), theta = Json::array();
  for (int i = 0; i < given.at("M").get<int>(); ++i) {
    a.push_back(given.at("prior")[0]);
    b.push_back(given.at("prior")[1]);
    theta.push_back(asked("4 * beta({a}, {b}).learnability", {{"a", a.back()}, {"b", b.back()}}));
  }
  Json price = given.at("nu1");
  Json left = given.at("B");
  Json result;
  for (std::size_t round = 0; round < given.at("outcomes_if_selected").size(); ++round) {
    const Json now = with(in, {{"theta", theta}, {"nu", price}, {"left", left}});
    const std::string margins = " over t in {theta}, n in 0..{Nmax} maximizing (t - {nu}) * n";
    const Json wished = asked("allot {C}" + margins, now);
    const Json real = asked("allot min({C}, {left})" + margins, now);
    left = asked("{left} - sum({real})", with(now, {{"real", real}}));
    Json q = Json::array(), z = Json::array(), slopes = Json::array();
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const Json outcome = given.at("outcomes_if_selected")[round][i];
      const bool seen = real[i] > 0;
      Json one = with(in, {{"a0", given.at("prior")[0]}, {"b0", given.at("prior")[1]}, {"a", a[i]}, {"b", b[i]},
                           {"s", seen ? outcome[0] : Json(0)}, {"f", seen ? outcome[1] : Json(0)},
                           {"theta", theta[i]}, {"given", wished[i]}});
      one["a"] = a[i] = asked("{a0} + {rho} * ({a} - {a0}) + {s}", one);
      one["b"] = b[i] = asked("{b0} + {rho} * ({b} - {b0}) + {f}", one);
      q.push_back(asked("beta({a}, {b}).learnability", one));
      one["c"] = asked("4 * {lambda} * beta({a}, {b}).learnability / {R}", one);
      one["at"] = asked("{lambda} / {R} * {theta}", one);
      z.push_back(asked("if {at} >= {c} then 0.0 else if {at} <= {c} * exp(-({c} * {K} * {Nmax})) then {K} * {Nmax} * 1.0 "
                        "else log({c} / {at}) / {c}", one));
      one["z"] = z.back();
      slopes.push_back(asked("clamp({theta} - {gamma} * ({given} - {z} / {K}) / {Nmax}, 0.0, 1.0)", one));
    }
    theta = slopes;
    price = asked("clamp({nu} - {gamma} * ({B} / {K} - sum({wished})) / max({B} / {K}, {C} - {B} / {K}), 0.0, 1.0)",
                  with(now, {{"wished", wished}}));
    result["round" + std::to_string(round + 1)] = {{"N", real},      {"virtual", wished}, {"q", q},
                                                   {"z_star", z},    {"theta", theta},    {"nu", price},
                                                   {"budget_left", left}};
  }
  return result;
}

void register_allotments(Registry& registry) {
  registry.add("hora_allocate", hora);
  registry.add("knapsack_allocate", knapsack);
  registry.add("knapsack_value", rule("(1 - flat_prob({p}, {N})) * {p} * (1 - {p}) * (1 - {p})"));
  registry.add("greedy_concave_alloc", trace);
  registry.add("vip_allocate", vip);
  registry.add("vip_rloo_unbounded", [](const Json& in) -> Json {
    return allocation::rloo_sizes(numbers(in.at("p")), number(in.at("budget")));
  });
  registry.add("gradient_variance_coeff", [](const Json& in) -> Json {
    const auto of = [&in](allocation::Estimator estimator) {
      return allocation::gradient_variance(estimator, number(in.at("p")), number(in.at("n")), number(in.at("sigma2")));
    };
    return {{"rloo", of(allocation::Estimator::Rloo)}, {"drgrpo", of(allocation::Estimator::DrGrpo)}};
  });
  registry.add("cero_rounds", cero);
}

// ---- stopping

Json pilot(const Json& in) {
  constexpr const char* words[] = {"too_incorrect", "keep", "too_correct"};
  const Json kind = asked(
      "if {successes} / {n_pilot} > 1 - {upper} then 2 else if {successes} / {n_pilot} < {lower} then 0 else 1", in);
  return {{"class", words[kind.get<int>()]}, {"evict", asked("{successes} / {n_pilot} >= {evict_at}", in)}};
}

Json sara(const Json& in) {
  constexpr const char* words[] = {"abandon", "more", "commit"};
  int hits = 0;
  int misses = 0;
  for (const Json& reward : in.at("rewards")) {
    ++(reward > 0 ? hits : misses);
    const std::string mixed = "prob_mixed(beta({a0}, {b0}), hits: {hits}, misses: {misses}, size: {G})";
    const Json verdict = asked("if " + mixed + " >= {tau_high} then 2 else if " + mixed + " <= {tau_low} then 0 else 1",
                               with(in, {{"hits", hits}, {"misses", misses}}));
    if (verdict != 1) return {{"decision", words[verdict.get<int>()]}, {"at", hits + misses}};
  }
  return {{"decision", "more"}, {"at", hits + misses}};
}

Json domination(const Json& in) {
  const std::string population = in.at("population");
  const bool halves = population.starts_with("half");
  const auto flat = [&](const char* size) {
    if (halves) return asked(std::string("0.5 * flat_prob(0.0, {") + size + "}) + 0.5 * flat_prob(0.5, {" + size + "})", in);
    return asked("1 - prob_mixed(" + population + ", hits: 0, misses: 0, size: {" + size + "})", in);
  };
  const double at_probe = flat("m");
  const double at_size = flat("G");
  const math::Abandonment found = math::abandonment(at_probe, at_size, in.at("m"), in.at("G"));
  return {{"E_same_m", at_probe},
          {"E_same_G", at_size},
          {"yield_abandon", found.yield},
          {"yield_uniform", found.yield_uniform},
          {"ratio", found.yield / found.yield_uniform},
          {"dominates", found.yield > found.yield_uniform}};
}

void register_stopping(Registry& registry) {
  registry.add("pilot_classify", pilot);
  registry.add("pilot_commit_cost",
               rules({{"pilot", "round_even({train_prompts} / {pass_rate}) * {n_pilot}"},
                      {"commit", "{train_prompts} * {n_commit}"},
                      {"total", "round_even({train_prompts} / {pass_rate}) * {n_pilot} + {train_prompts} * {n_commit}"},
                      {"trained", "{train_prompts} * ({n_pilot} + {n_commit})"}}));
  registry.add("sara_decide", sara);
  registry.add("abandon_dominates", domination);
  registry.add("sara_worst_false_abandon", [](const Json& in) -> Json {
    const auto worst = math::worst_abandonment(in.at("m"), in.at("G"));
    return {{"p_star", worst.p}, {"value", worst.wrong}};
  });
  registry.add("dapo_dynamic_sampling_keep", [](const Json& in) {
    Json kept = Json::array();
    for (const Json& group : in.at("groups")) {
      kept.push_back(asked("size({v}) == 1 or (max({v}) ?? 0) > (min({v}) ?? 0)", {{"v", group}}));
    }
    return kept;
  });
  registry.add("arpo_branch",
               rules({{"score", "clamp({u} - {entropy_weight} * ({entropy_now} - {entropy_init}), 0.0, 1.0)"},
                      {"branch",
                       "clamp({u} - {entropy_weight} * ({entropy_now} - {entropy_init}), 0.0, 1.0) <= "
                       "{branch_probability}"}}));
  registry.add("arpo_prefix_entropy", [](const Json& in) {
    Json logs = Json::array();
    for (std::size_t i = 0; i < in.at("top_logprobs").size() && i < in.at("max_tokens"); ++i) {
      for (const Json& one : in.at("top_logprobs")[i]) logs.push_back(one);
    }
    return asked("-sum(exp(l) * l for l in {logs}) / log({vocab})", with(in, {{"logs", logs}}));
  });
}

// ---- choosing prompts

Json vigor_budget(const Json& in) {
  Json active = Json::array({in.at("B")});
  Json each = Json::array({in.at("m0")});
  for (int round = 1; round < in.at("T"); ++round) {
    active.push_back(asked("ceil({alpha} * {active})", with(in, {{"active", active.back()}})));
    each.push_back(asked("{gamma} * {each}", with(in, {{"each", each.back()}})));
  }
  Json spent = Json::array();
  for (std::size_t i = 0; i < active.size(); ++i) spent.push_back(asked("{a} * {m}", {{"a", active[i]}, {"m", each[i]}}));
  const Json all = with(in, {{"spent", spent}, {"each", each}});
  return {{"active", active},
          {"per_prompt", each},
          {"per_round", spent},
          {"total", asked("sum({spent})", all)},
          {"mean_per_prompt", asked("sum({spent}) / {B}", all)},
          {"max_group", asked("sum({each})", all)}};
}

Json vigor_select(const Json& in) {
  Json variances = Json::array();
  Json sample = Json::array();
  std::vector<std::string> names;
  for (const auto& [name, rewards] : in.at("rewards").items()) {
    names.push_back(name);
    variances.push_back(asked("variance({v}, 0)", {{"v", rewards}}));
    sample.push_back(asked("variance({v}, 1)", {{"v", rewards}}));
  }
  Json kept = Json::array();
  for (const Json& i : asked("top({u}, ceil({alpha} * size({u})))", with(in, {{"u", variances}}))) {
    kept.push_back(names[i.get<std::size_t>()]);
  }
  return {{"kept", kept}, {"var_pop", variances}, {"var_sample", sample}};
}

Json streaks(const Json& in) {
  Json easy = 0;
  Json hard = 0;
  for (const Json& mean : in.at("mean_rewards")) {
    const Json now = with(in, {{"mean", mean}, {"easy", easy}, {"hard", hard}});
    easy = asked("if {mean} >= {easy_at} then {easy} + 1 else 0", now);
    hard = asked("if {mean} <= {hard_at} then {hard} + 1 else 0", now);
  }
  return {{"easy", easy}, {"hard", hard}};
}

Json bandit(const Json& in) {
  Json values = in.at("Q0");
  for (const Json& update : in.at("updates")) {
    Json& value = values[update[0].get<std::size_t>()];
    value = asked("{alpha} * {gain} + (1 - {alpha}) * {q}", with(in, {{"gain", update[1]}, {"q", value}}));
  }
  return {{"Q", values},
          {"probs", asked("[exp(q / {tau}) / sum(exp(r / {tau}) for r in {Q}) for q in {Q}]", with(in, {{"Q", values}}))}};
}

// Whole groups come back, the newest first; of one age the one that comes first by its id.
Json replay(const Json& in) {
  Json kept = Json::array();
  Json dropped = Json::array();
  for (const Json& group : in.at("batch")) {
    const bool mixed = asked("(max({rewards}) ?? 0) > (min({rewards}) ?? 0)", group);
    (mixed ? kept : dropped).push_back(group.at("id"));
  }
  Json ages = Json::array();
  for (const Json& stored : in.at("buffer")) ages.push_back(asked("{now} - {step}", with(stored, {{"now", in.at("step")}})));
  Json replayed = Json::array();
  const std::string order = "bottom([if a <= {max_age} then a else undefined for a in {ages}], {places})";
  for (const Json& i : asked(order, with(in, {{"ages", ages}, {"places", dropped.size()}}))) {
    replayed.push_back(in.at("buffer")[i.get<std::size_t>()].at("id"));
  }
  return {{"kept", kept}, {"dropped", dropped}, {"replayed", replayed}, {"unfilled", dropped.size() - replayed.size()}};
}

void register_choices(Registry& registry) {
  registry.add("vigor_budget", vigor_budget);
  registry.add("vigor_select", vigor_select);
  registry.add("vigor_speedup",
               rule("pow((pow({alpha}, -{T} / {k}) - 1) / ({T} * (pow({alpha}, -1 / {k}) - 1)), 1 / 3)"));
  registry.add("greso_skip_probability", rules({{"keep", "max(pow({p_e}, {z}), {floor})"},
                                                {"skip", "1 - max(pow({p_e}, {z}), {floor})"}}));
  registry.add("greso_streaks", streaks);
  registry.add("greso_adapt",
               rule("clamp(if {observed} >= {target} then {p} - {step} else {p} + {step}, {min}, {max})"));
  registry.add("greso_next_batch",
               rule("clamp(floor(({need_rollouts} - {have_rollouts}) / (1 - {zero_var_ratio}) / {n} * {beta}), {min}, "
                    "{default})"));
  registry.add("adarft_target",
               rule("clamp({T} + {eta} * tanh({alpha} * ({mean_reward} - {beta})), {d_min}, {d_max})"));
  registry.add("sec_update", bandit);
  registry.add("xrpo_halfwidth",
               rules({{"h", "student_t_quantile(0.5 + {conf} / 2, {n} - 1) * {s} / sqrt({n})"},
                      {"reduction", "student_t_quantile(0.5 + {conf} / 2, {n} - 1) * {s} / sqrt({n}) - "
                                    "student_t_quantile(0.5 + {conf} / 2, {n}) * {s} / sqrt({n} + 1)"}}));
  registry.add("salt_adaptive_k", rule("max({k_min}, min(round_even({rho} * {pr}), {k_max}, {batch} - 1))"));
  registry.add("replay_fill", replay);
}

}  // namespace

void register_methods(Registry& registry) {
  register_allotments(registry);
  register_stopping(registry);
  register_choices(registry);
}

}  // namespace allot::conformance
