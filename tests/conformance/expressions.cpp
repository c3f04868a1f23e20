// Vectors of vectors, matrices, trees and classes, computed by expressions of the language: as a policy would write them.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "compiler/executable.h"
#include "lang/diagnostics.h"
#include "lang/program.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/language.h"
#include "tests/conformance/policies.h"
#include "tests/conformance/registry.h"

namespace allot::conformance {
namespace {

using lang::Cell;

// A list, a matrix or a number as an author writes it; null is undefined.
std::string text(const Json& json) {
  if (json.is_null()) return "undefined";
  if (json.is_boolean()) return json.get<bool>() ? "true" : "false";
  if (!json.is_array()) return json.is_number_integer() ? json.dump() : fmt::format("{:.17g}", number(json));
  std::string all = "[";
  for (const Json& item : json) all += (all.size() > 1 ? ", " : "") + text(item);
  return all + "]";
}

std::string real(double value) {
  const std::string digits = fmt::format("{:.17g}", value);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

// The values of `results` after the lines of `lets`, by the evaluator; an undefined one is NaN.
std::vector<double> values(const std::string& lets, const std::vector<std::string>& results) {
  std::string policy = "policy vector\non finish of group g {\n" + lets;
  for (std::size_t i = 0; i < results.size(); ++i) policy += fmt::format("  report r{} = {}\n", i, results[i]);
  policy += "}\n";
  const auto source = std::make_shared<const lang::Source>("vector.allot", policy);
  lang::Diagnostics diagnostics;
  const std::optional<lang::Program> program = lang::check(source, diagnostics);
  if (!program) throw std::runtime_error(lang::render_all(diagnostics, *source));
  std::vector<Cell> reports(results.size());
  std::vector<std::uint8_t> written(results.size());
  compiler::Outcome outcome;
  outcome.reports = reports.data();
  outcome.report_written = written.data();
  compiler::Scratch scratch;
  const std::array<std::int64_t, lang::scope_count> sizes{};
  compiler::Frame frame;
  frame.scope_sizes = sizes.data();
  frame.scratch = &scratch;
  compiler::evaluate(*program)->decide(0, frame, outcome);
  if (outcome.fault != compiler::FaultKind::None) {
    throw std::runtime_error(fmt::format("fault {} in\n{}", static_cast<int>(outcome.fault), policy));
  }
  std::vector<double> made;
  const lang::Handler& handler = program->handlers.front();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const lang::NodeId id = handler.effects[i].value;
    const lang::Base base = handler.nodes[static_cast<std::size_t>(id)].type.base;
    made.push_back(base == lang::Base::Real ? reports[i].real()
                                            : static_cast<double>(reports[i].integer()));
  }
  return made;
}

std::vector<std::string> elements(const std::string& vector, std::size_t size) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < size; ++i) all.push_back(fmt::format("{}[{}]", vector, i));
  return all;
}

std::vector<double> vector(const std::string& lets, const std::string& name, std::size_t size) {
  return values(lets, elements(name, size));
}

// ---- what a policy of stdlib/ makes of it in the end, the figures on the way by the same expressions

Json products(const Json& features) {
  Json gram = Json::array();
  for (const Json& a : features) {
    Json& row = gram.emplace_back(Json::array());
    for (const Json& b : features) {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += number(a[i]) * number(b[i]);
      row.push_back(sum);
    }
  }
  return gram;
}

// SALT (arXiv:2606.05800)

Json salt(const Json& in, const Json& gram) {
  const std::size_t size = in.at("advantages").size();
  std::string lets = "  let gram = " + text(gram) + "\n  let a = " + text(in.at("advantages")) + "\n";
  lets += fmt::format("  let k = clamp(round_even({} * participation_ratio(gram)), {}, min({}, size(a) - 1))\n",
                      real(number(in.at("rho"))), text(in.at("k_min")), text(in.at("k_max")));
  lets += fmt::format("  let calm = clamp(1 - effective_count(gram, a), {}, {})\n", real(number(in.at("alpha_min"))),
                      real(number(in.at("alpha_max"))));
  lets += "  let basis = top_eigenspace(gram, k)\n";
  lets += std::string("  let positive = ") + (in.at("use_relu").get<bool>() ? "max(a, 0)\n" : "a\n");
  lets += "  let main = if basis is undefined then a else project(basis, a)\n";
  lets += "  let rest = if basis is undefined then a * 0 else reject(basis, positive)\n";
  lets += "  let shaped = main + calm * rest\n";
  const Json all = with(in, {{"gram", gram}});
  const Json shaped = in.at("use_relu").get<bool>()
                          ? decided("salt", {{"rho", in.at("rho")}, {"most", in.at("k_max")}}, "shape",
                                    "micro_batch { advantages: {advantages}, gram: {gram} }", all).at("advantages")
                          : Json(vector(lets, "shaped", size));  // a variant that nobody trains with
  const std::vector<double> figures = values(lets, {"participation_ratio(gram)", "k", "effective_count(gram, a)", "calm"});
  return {{"participation_ratio", figures[0]},
          {"k", figures[1]},
          {"n_eff", figures[2]},
          {"alpha", figures[3]},
          {"main", vector(lets, "main", size)},
          {"residual", vector(lets, "rest", size)},
          {"final", shaped}};
}

// ---- trees: a number is a leaf, a list a node with children

struct Flat {
  std::vector<std::string> values, parents;
};

void flatten(const Json& tree, int parent, Flat& into) {
  const int own = static_cast<int>(into.parents.size());
  into.values.push_back(tree.is_array() ? "undefined" : text(tree));
  into.parents.push_back(std::to_string(parent));
  if (!tree.is_array()) return;
  for (const Json& child : tree) flatten(child, own, into);
}

std::string listed(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

std::string tree_lets(const Json& tree, Flat& flat) {
  flatten(tree, -1, flat);
  return "  let v = " + listed(flat.values) + "\n  let up = " + listed(flat.parents) + "\n";
}

// Figures of each node, nested as the tree is; `fields` in the order of the lists.
using Fields = std::vector<std::pair<const char*, std::vector<double>>>;
Json nested(const Json& tree, const Fields& fields, std::size_t& node, const char* not_of_root) {
  Json made;
  const bool root = node == 0;
  for (const auto& [name, list] : fields) {
    if (!root || std::string(name) != not_of_root) made[name] = list[node];
  }
  ++node;
  if (!tree.is_array()) return made;
  made["children"] = Json::array();
  for (const Json& child : tree) made["children"].push_back(nested(child, fields, node, not_of_root));
  return made;
}

Json backup(const Json& in) {
  Flat flat;
  const std::string lets = tree_lets(in.at("tree"), flat);
  const std::size_t size = flat.parents.size();
  std::size_t node = 0;
  return nested(in.at("tree"),
                {{"n", vector(lets, "tree_count(v, up)", size)}, {"value", vector(lets, "tree_mean(v, up)", size)}}, node, "");
}

Json spo_tree(const Json& in) {
  Flat flat;
  std::string lets = tree_lets(in.at("tree"), flat);
  lets += "  let value = tree_mean_of_means(v, up) ?? 0\n  let gain = value - (pick(value, up) ?? 0)\n";
  const std::size_t size = flat.parents.size();
  std::size_t node = 0;
  return nested(in.at("tree"), {{"value", vector(lets, "value", size)}, {"advantage", vector(lets, "gain", size)}}, node,
                "advantage");
}

// Leaves less the mean of the others; then (V − V of the root) + (V − V of the parent), over √leaves.
Json tree_rl(const Json& in) {
  Flat flat;
  std::string lets = tree_lets(in.at("tree"), flat);
  lets += "  let n = count(v)\n";
  lets += "  let w = v - (sum(v) - v) / (n - 1)\n";
  lets += "  let value = tree_mean(w, up) ?? 0\n";
  lets += "  let leaves = tree_count(v, up)\n";
  lets += "  let step = ((value - value[0]) + (value - (pick(value, up) ?? 0))) / sqrt(leaves)\n";
  const std::size_t size = flat.parents.size();
  std::size_t node = 0;
  return nested(in.at("tree"),
                {{"n", vector(lets, "leaves", size)}, {"V", vector(lets, "value", size)}, {"step_reward", vector(lets, "step", size)}},
                node, "step_reward");
}

// ---- classes

// Tree-GRPO: all leaves in one list, and the tree of each as its class.
std::string leaf_lets(const Json& trees, std::vector<std::size_t>& sizes) {
  std::vector<std::string> values, of;
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    sizes.push_back(trees[tree].size());
    for (const Json& leaf : trees[tree]) {
      values.push_back(text(leaf));
      of.push_back(std::to_string(tree));
    }
  }
  return "  let r = " + listed(values) + "\n  let by = " + listed(of) + "\n";
}

Json split(const std::vector<double>& flat, const std::vector<std::size_t>& sizes) {
  Json all = Json::array();
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    Json& list = all.emplace_back(Json::array());
    for (std::size_t i = 0; i < size; ++i) list.push_back(flat[at++]);
  }
  return all;
}

Json tree_grpo(const Json& in, const std::string& result) {
  std::vector<std::size_t> sizes;
  std::string lets = leaf_lets(in.at("trees"), sizes);
  const std::string spread = fmt::format(", {}) + {}", text(in.at("ddof")), real(number(in.at("eps"))));
  const std::string in_tree = fmt::format("(x - mean_by(x, by)) / (std_by(x, by{})", spread);
  lets += fmt::format("  let whole = normalized(r, {}, {})\n", text(in.at("ddof")), real(number(in.at("eps"))));
  const auto within = [&](const std::string& x) {
    std::string made = in_tree;
    for (std::size_t at = 0; (at = made.find("x", at)) != std::string::npos; at += x.size()) made.replace(at, 1, x);
    return made;
  };
  lets += "  let one = " + within("whole") + "\n  let own = " + within("r") + "\n";
  std::size_t size = 0;
  for (const std::size_t each : sizes) size += each;
  return split(vector(lets, result, size), sizes);
}

int key(std::vector<std::string>& known, const std::string& one) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == one) return static_cast<int>(i);
  }
  known.push_back(one);
  return static_cast<int>(known.size()) - 1;
}

// GiGPO (arXiv:2505.10978)
Json gigpo(const Json& in) {
  std::vector<std::string> rewards, runs, keys, firsts;
  Json samples = Json::array(), earned = Json::array(), states = Json::array(), totals = Json::array();
  std::vector<std::string> known_runs, known_keys;
  for (const Json& step : in.at("steps")) {
    rewards.push_back(real(number(step.at("r"))));
    const std::string task = step.at("task");
    const std::size_t before = known_runs.size();
    runs.push_back(std::to_string(key(known_runs, task + " " + step.at("traj").dump())));
    firsts.push_back(known_runs.size() > before ? "true" : "false");
    keys.push_back(std::to_string(key(known_keys, task + " " + step.at("anchor").get<std::string>())));
    samples.push_back(std::stoi(runs.back()));
    states.push_back(std::stoi(keys.back()));
    earned.push_back(step.at("r"));
    if (totals.size() < known_runs.size()) totals.push_back(0.0);
    totals.back() = number(totals.back()) + number(step.at("r"));
  }
  std::string lets = "  let r = " + listed(rewards) + "\n  let run = " + listed(runs) + "\n  let anchor = " + listed(keys) + "\n";
  lets += fmt::format("  let back = discounted_by(r, run, {}) ?? 0\n", real(number(in.at("gamma"))));
  lets += "  let total = sum_by(r, run) ?? 0\n";
  // Over all steps, or each run once.
  lets += in.at("stats_over_steps").get<bool>()
              ? std::string("  let counted = total\n")
              : "  let counted = [if " + listed(firsts) + "[i] then total[i] else undefined for i in argsort(prefix_sum(r * 0 + 1))]\n";
  lets += "  let episode_mean = mean(counted) ?? 0\n";
  const std::string eps = real(number(in.at("eps")));
  const std::string ddof = text(in.at("ddof"));
  if (in.at("mode") == "mean_norm") {
    lets += "  let episode = total - episode_mean\n";
    lets += "  let step = back - (mean_by(back, anchor) ?? 0)\n";
  } else {
    lets += fmt::format("  let episode = (total - episode_mean) / ((std(counted, {}) ?? 0) + {})\n", ddof, eps);
    lets += fmt::format("  let step = (back - (mean_by(back, anchor) ?? 0)) / ((std_by(back, anchor, {}) ?? 0) + {})\n", ddof,
                        eps);
  }
  const std::size_t size = rewards.size();
  const Json answer = decided("gigpo",
                              {{"discount", in.at("gamma")}, {"weight", in.at("omega")},
                               {"by_turns", in.at("stats_over_steps")}, {"scaled", in.at("mode") != "mean_norm"}},
                              "shape",
                              "group { rewards: {totals}, turn_samples: {samples}, turn_rewards: {earned}, turn_states: {states} }",
                              {{"totals", totals}, {"samples", samples}, {"earned", earned}, {"states", states}});
  return {{"step_return", vector(lets, "back", size)},
          {"episode", vector(lets, "episode", size)},
          {"step", vector(lets, "step", size)},
          {"advantage", answer.at("advantages")}};
}

// GCPO (arXiv:2605.11461): K = √(r rᵀ) cos, credit from log det(I + λK).
Json gcpo(const Json& in) {
  const std::size_t size = in.at("rewards").size();
  std::string lets = "  let r = " + text(in.at("rewards")) + "\n  let e = " + text(in.at("embeddings")) + "\n";
  lets += fmt::format("  let m = ridge({} * elementwise(outer(sqrt(r), sqrt(r)), cosine_gram(e)), 1)\n",
                      real(number(in.at("lam"))));
  Json made;
  made["team"] = values(lets, {"log_det(m)"}).front();
  if (in.at("credit") == "shapley") {
    lets += "  let shares = log_det_shares(m)\n  let credit = if shares is undefined then r * 0 else shares\n";
    made["advantages"] = decided("gcpo", {{"lambda", in.at("lam")}}, "shape",
                                 "group { rewards: {rewards}, advantages: {zeros}, embeddings: {embeddings} }",
                                 with(in, {{"zeros", std::vector<double>(size, 0.0)}})).at("advantages");
  } else {
    lets += "  let d = inverse_diagonal(m)\n  let credit = if d is undefined then r * 0 else -log(d)\n";
  }
  made["credit"] = vector(lets, "credit", size);
  return made;
}

// EDAS (arXiv:2605.17333): the wrong ones, by the share of their answer among them.
Json edas(const Json& in) {
  std::vector<std::string> known, classes, wrong;
  Json answers = Json::array();
  for (std::size_t i = 0; i < in.at("answers").size(); ++i) {
    const bool correct = in.at("correct")[i].get<int>() != 0;
    const int of = key(known, in.at("answers")[i]);
    answers.push_back(of);
    classes.push_back(correct ? "undefined" : std::to_string(of));
    wrong.push_back(correct ? "false" : "true");
  }
  const std::size_t size = classes.size();
  std::string lets = "  let a = " + text(in.at("advantages")) + "\n  let by = " + listed(classes) + "\n";
  lets += "  let wrong = " + listed(wrong) + "\n  let n = count(wrong)\n";
  lets += "  let scale = mean(where(wrong, abs(a), undefined)) ?? 0\n";
  lets += "  let surprise = log(n / count_by(by))\n";
  lets += fmt::format(
      "  let push = if n <= 1 then a * 0 else if distinct(by) == 1 then where(wrong, {} * scale, 0.0) + a * 0 else where(wrong, "
      "{} * scale * (surprise - (mean(surprise) ?? 0)) / log(n), 0.0)\n",
      real(-number(in.at("beta"))), real(number(in.at("alpha"))));
  lets += "  let delta = (push ?? 0)\n";
  const Json final = decided("edas", {{"lift", in.at("alpha")}, {"push", in.at("beta")}, {"limit", in.at("kappa")}}, "shape",
                             "group { rewards: {correct}, classes: {answers}, advantages: {advantages} }",
                             with(in, {{"answers", answers}})).at("advantages");
  return {{"delta", vector(lets, "delta", size)}, {"final", final}};
}

// DPS (arXiv:2603.10887): a hidden Markov chain over unsolved, partly and fully solved, a line for each line of a policy
// whose state is `alpha`, `pi` and `before`.
Json dps(const Json& in) {
  const std::string first = real(number(in.at("alpha0")));
  const double decay = number(in.at("decay"));
  const std::string row = fmt::format("[{0}, {0}, {0}]", first);
  std::string lets = fmt::format("  let ones = [1.0, 1.0, 1.0]\n  let alpha0 = [{0}, {0}, {0}]\n", row);
  lets += "  let pi0 = ones / 3\n  let before0 = pi0\n";
  Json predicted = Json::array();
  int n = 0;
  for (const Json& rate : in.at("success_rates")) {
    const int m = n + 1;
    const bool seen = !rate.is_null();
    lets += seen ? fmt::format("  let mu{} = {}\n", m,
                               number(rate) <= 0   ? "[1.0, 0.0, 0.0]"
                               : number(rate) >= 1 ? "[0.0, 0.0, 1.0]"
                                                   : "[0.0, 1.0, 0.0]")
                 : fmt::format("  let mu{} = pi{}\n", m, n);
    lets += fmt::format("  let chances{0} = elementwise(alpha{1}, outer(ones, 1 / (transpose(alpha{1}) * ones)))\n", m, n);
    lets += fmt::format("  let joint{0} = elementwise(outer(mu{0}, before{1}), chances{0})\n", m, n);
    lets += fmt::format("  let alpha{0} = {2} * alpha{1} + {3} * alpha0{4}\n", m, n, real(decay), real(1 - decay),
                        seen ? fmt::format(" + joint{0} / sum(joint{0})", m) : "");
    lets += fmt::format("  let next{0} = elementwise(alpha{0}, outer(ones, 1 / (transpose(alpha{0}) * ones))) * mu{0}\n", m);
    lets += fmt::format("  let pi{0} = next{0} / sum(next{0})\n  let before{0} = mu{0}\n", m);
    predicted.push_back(vector(lets, fmt::format("pi{}", m), 3));
    n = m;
  }
  Json alpha = Json::array();
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> cells;
    for (int j = 0; j < 3; ++j) cells.push_back(fmt::format("alpha{}[{}, {}]", n, i, j));
    alpha.push_back(values(lets, cells));
  }
  return {{"predicted_after_each", predicted}, {"alpha_final", alpha}, {"score", predicted.back()[1]}};
}

}  // namespace

void register_expressions(Registry& registry) {
  registry.add("salt_reweight", [](const Json& in) { return salt(in, products(in.at("features"))); });
  registry.add("salt_reweight_gram", [](const Json& in) { return salt(in, in.at("gram")); });
  registry.add("tree_backup_count_weighted", backup);
  registry.add("spo_tree_advantage", spo_tree);
  registry.add("treerl_step_reward", tree_rl);
  registry.add("tree_grpo_advantage_sequential", [](const Json& in) { return tree_grpo(in, "one"); });
  registry.add("tree_grpo_advantage_sum", [](const Json& in) { return tree_grpo(in, "(whole + own)"); });
  registry.add("gigpo_advantage", gigpo);
  registry.add("gcpo_credit", gcpo);
  registry.add("edas_shape", edas);
  registry.add("dps_filter", dps);
}

}  // namespace allot::conformance
