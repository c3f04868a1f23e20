// Vectors of runtime/statistics.
#include <optional>

#include "runtime/math/elementary.h"
#include "runtime/math/sum.h"
#include "runtime/statistics/baseline.h"
#include "runtime/statistics/edit_distance.h"
#include "runtime/statistics/gate.h"
#include "runtime/statistics/interner.h"
#include "runtime/statistics/prefix_edit.h"
#include "runtime/statistics/rewards.h"
#include "runtime/statistics/signals.h"
#include "runtime/statistics/subset.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/registry.h"

namespace allot::conformance {
namespace {

using namespace statistics;

std::vector<Symbol> symbols(const Json& texts, Interner& interner) {
  std::vector<Symbol> result;
  for (const Json& text : texts) result.push_back(interner.intern(text.get<std::string>()));
  return result;
}

// A group whose rollouts have all ended, as the vectors mean it.
struct Group {
  Interner interner;
  std::vector<std::vector<Symbol>> actions;
  std::vector<RolloutActions> rollouts;

  explicit Group(const Json& lists) {
    for (const Json& list : lists) actions.push_back(symbols(list, interner));
    for (const std::vector<Symbol>& list : actions) rollouts.push_back({list, true});
  }
};

// Through the incremental statistic, turn by turn, as the engine drives it.
std::optional<PairSummary> incremental(const Group& group, int prefix, Padding padding, Scale scale) {
  PrefixEdit statistic(prefix);
  for (std::size_t i = 0; i < group.actions.size(); ++i) statistic.add_rollout();
  for (std::size_t turn = 0, going = 1; going > 0; ++turn) {
    going = 0;
    for (std::size_t i = 0; i < group.actions.size(); ++i) {
      if (turn < group.actions[i].size()) {
        statistic.append(static_cast<int>(i), group.actions[i][turn]);
        ++going;
      } else {
        statistic.end(static_cast<int>(i));
      }
    }
  }
  return statistic.at(prefix, padding, scale);
}

Json edit_pair(const Json& in) {
  Interner interner;
  const std::vector<Symbol> a = symbols(in.at("a"), interner);
  const std::vector<Symbol> b = symbols(in.at("b"), interner);
  return {{"raw", edit_distance(a, b)}, {"norm", normalized_edit_distance(a, b)}};
}

Json group_edit(const Json& in) {
  const Group group(in.at("actions"));
  const Padding padding = in.at("pad").get<bool>() ? Padding::Padded : Padding::Unpadded;
  const PairSummary summary = incremental(group, in.at("K"), padding, Scale::Normalized).value();
  return {{"mean", summary.mean}, {"min", summary.min}, {"max", summary.max}};
}

Json gate(const Json& in) {
  const Group group(in.at("actions"));
  const double divergence = incremental(group, in.at("K"), Padding::Padded, Scale::Normalized).value().mean;
  return {{"d_K", divergence}, {"cut", divergence < number(in.at("d_L"))}};
}

Json signals(const Json& in) {
  const Group group(in.at("actions"));
  const int turn = in.at("K");
  const GroupActions rollouts = group.rollouts;
  return {{"prefix_edit_mean", incremental(group, turn, Padding::Padded, Scale::Normalized).value().mean},
          {"bigram_jaccard_mean", bigram_jaccard(rollouts, turn, Padding::Padded).value().mean},
          {"unique_prefix_ratio", unique_prefix_ratio(rollouts, turn).value()},
          {"unique_action_ratio", unique_action_ratio(rollouts, turn).value()},
          {"action_entropy_norm", action_entropy(rollouts, turn, EntropyUnit::Normalized).value()},
          {"action_entropy_bits", action_entropy(rollouts, turn, EntropyUnit::Bits).value()},
          {"agreement", agreement(rollouts, turn).value()},
          {"termination_fraction", finished_fraction(rollouts, turn).value()}};
}

Json savings(const Json& in) {
  const GateQuality quality = gate_quality({.groups = in.at("N"),
                                            .flat = in.at("zv"),
                                            .stopped = in.at("cut"),
                                            .stopped_flat = in.at("tp"),
                                            .turn = in.at("K"),
                                            .turn_limit = in.at("T_max")});
  return {{"precision", quality.precision.value()},
          {"recall", quality.recall.value()},
          {"safe", quality.saved.value()},
          {"raw", quality.saved_raw.value()}};
}

Json reward_stats(const Json& in) {
  std::vector<std::optional<double>> rewards;
  for (const double reward : numbers(in.at("rewards"))) rewards.emplace_back(reward);
  const RewardSummary summary(rewards);
  const double epsilon = number(in.at("eps"));
  return {{"mean", summary.mean().value()},
          {"var_pop", summary.variance(0).value()},
          {"var_sample", summary.variance(1).value()},
          {"grpo_pop", standardized(summary.values(), 0, epsilon)},
          {"grpo_sample", standardized(summary.values(), 1, epsilon)},
          {"drgrpo", centered(summary.values())},
          {"rloo", less_mean_of_others(summary.values())}};
}

Json deviations(const Json& in) {
  Json result = Json::array();
  for (const Json& ddof : in.at("ddof")) result.push_back(math::deviation(numbers(in.at("values")), ddof).value());
  return result;
}

Json masked(const Json& in) {
  std::vector<double> values;
  std::vector<double> mask;
  for (const Json& row : in.at("values")) std::ranges::copy(numbers(row), std::back_inserter(values));
  for (const Json& row : in.at("mask")) std::ranges::copy(numbers(row), std::back_inserter(mask));
  return masked_mean(values, mask, number(in.at("eps")));
}

Json entropies(const Json& in) {
  const std::vector<double> probabilities = numbers(in.at("p"));
  return {{"nats", entropy(probabilities, EntropyUnit::Nats)}, {"bits", entropy(probabilities, EntropyUnit::Bits)}};
}

Json repeated(const Json& in) {
  Interner interner;
  return repetition(symbols(in.at("seq"), interner), in.at("n"));
}

std::vector<double> picked(const std::vector<double>& values, const std::vector<int>& indices) {
  std::vector<double> result;
  for (const int index : indices) result.push_back(values[static_cast<std::size_t>(index)]);
  return result;
}

Json variance_subset(const Json& in) {
  const std::vector<double> rewards = numbers(in.at("rewards"));
  const std::vector<int> kept = max_variance(rewards, in.at("m"));
  return {{"variance", math::variance(picked(rewards, kept), 0).value()}, {"indices", kept}};
}

}  // namespace

void register_statistics(Registry& registry) {
  registry.add("edit_distance_pair", edit_pair);
  registry.add("group_prefix_edit", group_edit);
  registry.add("selective_gate", gate);
  registry.add("group_signals", signals);
  registry.add("gate_savings", savings);
  registry.add("gradient_dilution_gain", [](const Json& in) -> Json {
    return {{"gain", gradient_dilution_gain(number(in.at("zero_adv_before")), number(in.at("zero_adv_after")))}};
  });
  registry.add("reward_stats", reward_stats);
  registry.add("std", deviations);
  registry.add("masked_mean_eps", masked);
  registry.add("entropy", entropies);
  registry.add("ngram_repetition", repeated);
  registry.add("maxvar_subset", variance_subset);
  registry.add("pcl_select", [](const Json& in) -> Json {
    return nearest(numbers(in.at("values")), number(in.at("tau")), in.at("m"));
  });
  registry.add("argsort_stable", [](const Json& in) -> Json {
    const bool descending = in.at("descending");
    return argsort(numbers(in.at("values")), descending ? Direction::Descending : Direction::Ascending);
  });
}

}  // namespace allot::conformance
