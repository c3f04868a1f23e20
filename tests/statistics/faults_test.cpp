// Public faults of other trainers (faults.md, by number), each with its kind.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "runtime/math/sum.h"
#include "runtime/statistics/baseline.h"
#include "runtime/statistics/edit_distance.h"
#include "runtime/statistics/interner.h"
#include "runtime/statistics/rewards.h"
#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

namespace {

using List = std::vector<std::optional<double>>;
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();

bool all_finite(const RewardSummary& summary) {
  const auto finite = [](std::optional<double> value) { return !value || std::isfinite(*value); };
  bool good = finite(summary.mean()) && finite(summary.min()) && finite(summary.max()) && finite(summary.sum());
  for (const int ddof : {0, 1}) {
    good = good && finite(summary.variance(ddof)) && finite(summary.deviation(ddof));
    for (const double advantage : standardized(summary.values(), ddof, 0.0)) good = good && std::isfinite(advantage);
  }
  return good;
}

}  // namespace

TEST_CASE("fault 3: a mean strictly inside the range says nothing of the spread") {
  const RewardSummary constant(List{0.5, 0.5, 0.5, 0.5});
  const RewardSummary mixed(List{0.0, 1.0, 0.0, 1.0});
  CHECK(*constant.mean() == *mixed.mean());
  CHECK(constant.flat(0));
  CHECK_FALSE(mixed.flat(0));
  // The kind: any constant group is flat, with deviation and advantages exactly 0, also where binary has no such value.
  for (int tenth = -20; tenth <= 20; ++tenth) {
    for (int size = 2; size <= 16; ++size) {
      const RewardSummary group(List(static_cast<std::size_t>(size), tenth / 10.0));
      CHECK(group.flat(0));
      CHECK(group.deviation(0) == 0.0);
      CHECK(group.deviation(1) == 0.0);
      CHECK(standardized(group.values(), 1, 0.0) == std::vector<double>(static_cast<std::size_t>(size), 0.0));
    }
  }
}

TEST_CASE("fault 5: one scorable reward has spread zero and advantage zero under either divisor") {
  for (const List& rewards : {List{nan_value, nan_value, 0.4, nan_value}, List{std::nullopt, 0.4}, List{5.0}}) {
    const RewardSummary group(rewards);
    CHECK(group.scored() == 1);
    for (const int ddof : {0, 1}) {
      CHECK(group.variance(ddof) == 0.0);
      CHECK(standardized(group.values(), ddof, 1e-6) == std::vector{0.0});
    }
    CHECK(less_mean_of_others(group.values()) == std::vector{0.0});
    CHECK_FALSE(group.flat(0));  // too small to be called flat
  }
}

TEST_CASE("fault 7: a non-finite reward is excluded, counted, and spoils nobody else's statistics") {
  for (const double bad : {inf, -inf, nan_value}) {
    const RewardSummary group(List{bad, 1.0, 0.0, 1.0});
    const RewardSummary rest(List{1.0, 0.0, 1.0});
    CHECK(group.nonfinite() == 1);
    CHECK(group.unscored() == 1);
    CHECK(group.mean() == rest.mean());
    CHECK(group.variance(1) == rest.variance(1));
    CHECK(group.sum() == 2.0);
  }
  // The kind: whatever is missing or broken, in any place and number, nothing non-finite comes out.
  Dice dice(5);
  const std::optional<double> choices[] = {0.0, 1.0, -17.25, 1e-300, inf, -inf, nan_value, std::nullopt};
  for (int round = 0; round < 2000; ++round) {
    List rewards;
    for (int i = 0, size = dice.roll(9); i < size; ++i) rewards.push_back(choices[dice.roll(8)]);
    const RewardSummary group(rewards);
    CHECK(all_finite(group));
    CHECK(group.scored() + group.unscored() == static_cast<int>(rewards.size()));
  }
}

TEST_CASE("fault 8: spread is measured over rollouts, not over their turns") {
  const std::vector<std::vector<double>> turns = {{0, 0, 0, 1}, {1}};
  List rewards;
  List turn_rewards;
  for (const std::vector<double>& rollout : turns) {
    rewards.push_back(allot::math::sum(rollout));
    for (const double reward : rollout) turn_rewards.push_back(reward);
  }
  CHECK(RewardSummary(rewards).flat(0));
  CHECK_FALSE(RewardSummary(turn_rewards).flat(0));
}

TEST_CASE("fault 38: the unit of a distance is the action's text, however it was tokenised") {
  Interner interner;
  const std::vector<Symbol> by_text_a = {interner.intern("open drawer")};
  const std::vector<Symbol> by_text_b = {interner.intern("open drawer")};
  CHECK(edit_distance(by_text_a, by_text_b) == 0);
  CHECK(edit_distance(std::vector<Symbol>{12, 7}, std::vector<Symbol>{12, 3, 4}) == 2);
}
