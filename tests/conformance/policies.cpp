#include "tests/conformance/policies.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "lang/diagnostics.h"
#include "lang/program.h"
#include "runtime/trial/trial.h"
#include "tests/conformance/language.h"

namespace allot::conformance {
namespace {

std::string text_of(const std::string& policy) {
  const std::string path = fmt::format("{}/stdlib/{}.allot", ALLOT_SOURCE_DIR, policy);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Any answer of the point: what is compared is what it gives, not whether it is this.
std::string some_answer(const std::string& point) {
  if (point == "shape") return "set advantages = [0]";
  if (point == "score") return "set reward = 0";
  if (point == "size") return "start 1 each";
  if (point == "expand") return "branch [0]";
  return "train";
}

Json list(const std::vector<std::optional<double>>& values) {
  Json all = Json::array();
  for (const auto& value : values) all.push_back(value ? Json(*value) : Json());
  return all;
}

}  // namespace

Json decided(const std::string& policy, const std::map<std::string, Json>& parameters, const std::string& point,
             const std::string& record, const Json& inputs) {
  std::string text = text_of(policy) + "\ntest \"of the vector\" {\n";
  for (const auto& [name, value] : parameters) text += fmt::format("  with {} = {}\n", name, filled("{value}", {{"value", value}}));
  text += "  given x = " + filled(record, inputs) + "\n";
  text += fmt::format("  expect {}(x) is {}\n}}\n", point, some_answer(point));
  const auto source = std::make_shared<const lang::Source>(policy + ".allot", text);
  lang::Diagnostics diagnostics;
  const std::optional<lang::Program> program = lang::check(source, diagnostics);
  if (!program) throw std::runtime_error(lang::render_all(diagnostics, *source));
  const auto reports = trial::run(*program, {"of the vector", false});
  if (!reports.at(0).error.empty()) throw std::runtime_error(reports[0].error);
  const trial::ExpectReport& asked = reports[0].expects.at(0);
  if (!asked.verdict) throw std::runtime_error(asked.got);
  const engine::Verdict& verdict = *asked.verdict;
  Json answer;
  if (verdict.advantages) answer["advantages"] = list(*verdict.advantages);
  if (verdict.reward) answer["reward"] = *verdict.reward;
  if (verdict.subset) answer["subset"] = *verdict.subset;
  if (!verdict.amounts.empty()) answer["amounts"] = verdict.amounts;
  return answer;
}

namespace {

// The kept samples in descending order of reward, as the vectors list them.
Json descending(const Json& rewards, const Json& kept) {
  const Json order = asked("pick({kept}, argsort(pick({rewards}, {kept}), descending: true))", {{"rewards", rewards}, {"kept", kept}});
  return order.get<std::vector<int>>();  // an expression gives reals
}

Json pods(const std::string& variant, const Json& in) {
  return decided(variant, {{"kept", in.at("m")}}, "finish", "group { rewards: {rewards} }", in).at("subset");
}

Json most_varied(const Json& in) {
  const Json kept = descending(in.at("rewards"), pods("pods", in));
  const Json all = with(in, {{"kept", kept}});
  return {{"indices", kept},
          {"variance_ddof1", asked("variance(pick({rewards}, {kept}), {ddof})", all)},
          {"advantages", asked("normalized(pick({rewards}, {kept}), {ddof}, {eps})", all)}};
}

// How many ones are kept of so many, by the policy.
Json ones(const Json& n, const Json& correct, const Json& m) {
  Json rewards = Json::array();
  for (int i = 0; i < n.get<int>(); ++i) rewards.push_back(i < correct.get<int>() ? 1 : 0);
  const Json kept = pods("pods", {{"rewards", rewards}, {"m", m}});
  return asked("round_even(sum(pick({rewards}, {kept})))", {{"rewards", rewards}, {"kept", kept}});
}

}  // namespace

void register_policies(Registry& registry) {
  registry.add("soft_overlong_penalty", [](const Json& in) {
    return decided("soft_overlong", {{"limit", in.at("L_max")}, {"cache", in.at("L_cache")}}, "score",
                   "rollout { reward: 0, tokens: {len} }", in).at("reward");
  });
  registry.add("dapo_overlong_penalty", [](const Json& in) {
    return decided("soft_overlong",
                   {{"limit", in.at("max_length")}, {"cache", in.at("buffer")}, {"factor", in.at("factor")}}, "score",
                   "rollout { reward: 0, tokens: {length} }", in).at("reward");
  });
  registry.add("pods_max_variance", most_varied);
  registry.add("pods_max_reward", [](const Json& in) { return descending(in.at("rewards"), pods("pods_max_reward", in)); });
  registry.add("pods_percentile", [](const Json& in) {
    const Json kept = pods("pods_percentile", in);
    return asked("pick({kept}, argsort(pick({rewards}, {kept})))", with(in, {{"kept", kept}}));
  });
  registry.add("pods_binary_ones", [](const Json& in) { return ones(in.at("n"), in.at("correct"), in.at("m")); });
  registry.add("maxvar_binary", [](const Json& in) -> Json {
    const int zeros = in.at("zeros");
    const Json kept = ones(in.at("ones").get<int>() + zeros, in.at("ones"), in.at("m"));
    return {{"keep_ones", kept}, {"keep_zeros", in.at("m").get<int>() - kept.get<int>()}};
  });
}

}  // namespace allot::conformance
