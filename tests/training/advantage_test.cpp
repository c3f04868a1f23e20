#include "runtime/training/advantage.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/training/batch_advantage.h"

using namespace allot::training;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;
using Group = std::vector<Reward>;

const std::vector<Estimator> kAll = {Estimator::Grpo,        Estimator::DrGrpo,
                                     Estimator::Rloo,        Estimator::ReinforcePp,
                                     Estimator::ReinforcePpBaseline, Estimator::Gpg,
                                     Estimator::Opo,         Estimator::BatchStd};

GroupValues of(Estimator estimator, const std::vector<Group>& groups) {
  GroupValues lengths;
  for (const Group& g : groups) lengths.push_back(Values(g.size(), 10.0));
  return advantages({estimator, 1, 1e-6}, groups, lengths);
}

bool all_zero(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0.0; });
}

}  // namespace

TEST_CASE("A flat group gets exactly 0, also where its rewards are not exact in binary") {
  // The mean of eight 0.1 is not 0.1 in double arithmetic: only max - min sees that nothing differs.
  const Group tenths(8, 0.1);
  for (const Estimator e : kAll) {
    INFO(name(e));
    CHECK(all_zero(of(e, {tenths})[0]));
  }
  CHECK(flat(tenths));
  CHECK_FALSE(flat(Group{0.1}));
  CHECK_FALSE(flat(Group{0.1, std::nullopt}));
  CHECK(flat(Group{0.1, 0.1 + 1e-12}, 1e-9));
  CHECK_FALSE(flat(Group{0.1, 0.1 + 1e-12}));
}

TEST_CASE("A group of one and an unscored group get 0 (fault 5)") {
  for (const Estimator e : kAll) {
    INFO(name(e));
    CHECK(all_zero(of(e, {Group{5.0}, Group{1.0, 0.0}})[0]));
    CHECK(all_zero(of(e, {Group{kNaN, kNaN, 0.4, kNaN}, Group{1.0, 0.0}})[0]));
    CHECK(all_zero(of(e, {Group{std::nullopt, std::nullopt}})[0]));
    CHECK(of(e, {Group{}})[0].empty());
  }
}

TEST_CASE("Non-finite rewards are unscored, and the rest is normalised without them (fault 7)") {
  for (const double odd : {kNaN, kInfinity, -kInfinity}) {
    const Values with = grpo(Group{odd, 0.0, 0.0, 1.0}, 1, 1e-6), without = grpo(Group{0.0, 0.0, 1.0}, 1, 1e-6);
    CHECK(with == Values{0.0, without[0], without[1], without[2]});
  }
}

TEST_CASE("Leaving a rollout out of its group moves the mean; leaving it out of the loss does not (fault 10)") {
  // Derivation: mean of (1, 1, 0, -3) is -1/4; of (1, 1, 0) it is 2/3.
  const Values in_group = dr_grpo(Group{1.0, 1.0, 0.0, -3.0});
  CHECK(in_group[0] == Approx(1.25));
  const Values excluded = dr_grpo(Group{1.0, 1.0, 0.0, std::nullopt});
  CHECK(excluded[0] == Approx(1.0 / 3.0));
  CHECK(excluded[3] == 0.0);
}

TEST_CASE("No estimator lets a NaN out, whatever goes in") {
  std::mt19937 random(11);
  const std::vector<Reward> pool = {0.0, 1.0, 0.1, -1e300, 1e300, 1e-300, kNaN, kInfinity, std::nullopt, 0.3};
  for (int round = 0; round < 300; ++round) {
    std::vector<Group> groups(1 + random() % 4);
    for (Group& g : groups) {
      g.resize(random() % 6);
      for (Reward& r : g) r = pool[random() % pool.size()];
    }
    for (const Estimator e : kAll)
      for (const Values& values : of(e, groups))
        for (const double v : values) CHECK(std::isfinite(v));
  }
}

TEST_CASE("Properties that follow from the formulas") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (int round = 0; round < 100; ++round) {
    Group g(2 + random() % 7);
    for (Reward& r : g) r = uniform(random);
    const double n = static_cast<double>(g.size());
    const Values centred = dr_grpo(g), rl = rloo(g), normal = grpo(g, 1, 0.0);
    CHECK(std::accumulate(centred.begin(), centred.end(), 0.0) == Approx(0).margin(1e-12));
    double squares = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      CHECK(rl[i] == Approx(n / (n - 1) * centred[i]).margin(1e-12));
      squares += normal[i] * normal[i];
    }
    CHECK(squares == Approx(n - 1));  // variance 1 with divisor n - 1
    CHECK(opo(g, Values(g.size(), 3.0))[0] == Approx(centred[0]).margin(1e-12));  // equal lengths: the plain mean
  }
}

TEST_CASE("reinforce++ over rollouts equals reinforce++ over tokens that are paid at the end") {
  // Two ways to compute one thing: with gamma = 1 every token's return is the rollout's reward.
  const std::vector<Group> groups = {{1.0, 0.0}, {0.0, 0.5, 1.0}};
  const GroupValues lengths = {{2, 3}, {1, 2, 3}};
  Matrix rewards(5, Values(3, 0.0)), mask(5, Values(3, 0.0));
  const Values flat_rewards = {1.0, 0.0, 0.0, 0.5, 1.0}, flat_lengths = {2, 3, 1, 2, 3};
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t t = 0; t < flat_lengths[i]; ++t) mask[i][t] = 1;
    rewards[i][static_cast<std::size_t>(flat_lengths[i]) - 1] = flat_rewards[i];
  }
  const Matrix tokens = reinforce_pp(rewards, mask, 1.0).advantages;
  const GroupValues rollouts = advantages({Estimator::ReinforcePp, 1, 1e-6}, groups, lengths);
  const Values joined = {rollouts[0][0], rollouts[0][1], rollouts[1][0], rollouts[1][1], rollouts[1][2]};
  for (std::size_t i = 0; i < 5; ++i) CHECK(joined[i] == Approx(tokens[i][0]).margin(1e-12));
}

TEST_CASE("Estimators are found by name and an unknown one is refused with the list") {
  for (const Estimator e : kAll) {
    const auto parsed = parse_estimator(name(e));
    REQUIRE(parsed);
    CHECK(*parsed == e);
  }
  const auto unknown = parse_estimator("gae");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().text().find("reinforce++") != std::string::npos);
}
