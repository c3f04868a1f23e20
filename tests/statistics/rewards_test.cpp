#include "runtime/statistics/rewards.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace allot::statistics;

namespace {

using List = std::vector<std::optional<double>>;
constexpr std::optional<double> missing = std::nullopt;

}  // namespace

TEST_CASE("unscored rollouts are in no statistic and never zero") {
  const RewardSummary summary(List{missing, 1.0, missing, 4.0});
  CHECK(summary.scored() == 2);
  CHECK(summary.unscored() == 2);
  CHECK(summary.nonfinite() == 0);
  CHECK(summary.mean() == 2.5);
  CHECK(summary.min() == 1.0);
  CHECK(summary.max() == 4.0);
  CHECK(summary.sum() == 5.0);
  CHECK(summary.spread() == 3.0);
  CHECK(summary.variance(0) == 2.25);
  CHECK(summary.variance(1) == 4.5);
  CHECK(summary.deviation(0) == 1.5);
  CHECK(std::vector<int>(summary.rollouts().begin(), summary.rollouts().end()) == std::vector{1, 3});
}

TEST_CASE("nothing scored leaves everything undefined and the group not flat") {
  for (const List& rewards : {List{}, List{missing, missing}, List{std::nan(""), INFINITY}}) {
    const RewardSummary summary(rewards);
    CHECK(summary.scored() == 0);
    CHECK_FALSE(summary.mean());
    CHECK_FALSE(summary.min());
    CHECK_FALSE(summary.max());
    CHECK_FALSE(summary.sum());
    CHECK_FALSE(summary.spread());
    CHECK_FALSE(summary.variance(0));
    CHECK_FALSE(summary.deviation(1));
    CHECK_FALSE(summary.flat(1e300));
  }
}

TEST_CASE("flat asks for two scored rewards and compares the spread with the tolerance") {
  CHECK(RewardSummary(List{0.5, 0.5}).flat(0));
  CHECK(RewardSummary(List{0.1, 0.1, 0.1}).flat(0));
  CHECK_FALSE(RewardSummary(List{0.5}).flat(0));
  CHECK_FALSE(RewardSummary(List{0.5, missing}).flat(0));
  CHECK_FALSE(RewardSummary(List{0.5, 0.75}).flat(0.2));
  CHECK(RewardSummary(List{0.5, 0.75}).flat(0.25));  // at the tolerance
}

TEST_CASE("hits and misses leave the unscored out, and no score is no rate") {
  const std::vector<std::optional<bool>> outcomes = {true, std::nullopt, false, true};
  const HitCounts counts = count_hits(outcomes);
  CHECK(counts.hits == 2);
  CHECK(counts.misses == 1);
  CHECK(counts.rate() == 2 / 3.0);
  CHECK_FALSE(count_hits({}).rate());
}
