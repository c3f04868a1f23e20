#include <catch2/catch.hpp>

#include "runtime/training/run/sequences.h"

using namespace allot::training;
using allot::engine::Fate;
using allot::engine::GroupResult;
using allot::engine::NormalizeOver;

namespace {

const AdvantageOptions plain{Estimator::DrGrpo, 1, 1e-6};

Collected two_groups(std::vector<std::optional<double>> first, std::vector<std::optional<double>> second) {
  Collected collected;
  int id = 0;
  for (const auto& rewards : {first, second}) {
    GroupResult group;
    group.group = id;
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      Rollout rollout;
      rollout.ref = {id, static_cast<int>(i)};
      rollout.reward = rewards[i];
      rollout.tokens = {1, 2, 3 + id};
      rollout.trained = {0, 1, 1};
      rollout.logprobs = {0, -1, -2};
      rollout.generated = 2;
      collected.rollouts.push_back(rollout);
      group.subset.push_back(static_cast<int>(i));
    }
    collected.groups.push_back(group);
    ++id;
  }
  return collected;
}

}  // namespace

TEST_CASE("a dropped group leaves no sequence: it is in no numerator and no denominator") {
  // Public fault 11: advantage 0 is not the same as being gone.
  const auto collected = two_groups({1, 0, 0, 1}, {0, 0, 0, 0});
  const auto kept = sequences(collected, {0}, plain);
  REQUIRE(kept.size() == 4);
  for (const auto& sequence : kept) CHECK(sequence.tokens.back() == 3);
  CHECK(kept[0].advantage == 0.5);
  CHECK(kept[1].advantage == -0.5);
}

TEST_CASE("unscored rollouts take no part in the mean and are not trained on") {
  // Public faults 5 and 7; mean of the scored 1 and 0 is 0.5.
  const auto collected = two_groups({1, std::nullopt, 0}, {std::nullopt, 1, std::nullopt});
  const auto kept = sequences(collected, {0, 1}, plain);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].advantage == 0.5);
  CHECK(kept[1].advantage == -0.5);
  CHECK(kept[2].advantage == 0);  // one scored rollout: nothing to compare with
}

TEST_CASE("a subset is normalised over itself or over its group, as the verdict says") {
  // Public fault 10: excluding from the loss and excluding from the group are two things.
  auto collected = two_groups({1, 1, 0, -3}, {0, 1});
  collected.groups[0].subset = {0, 1, 2};
  collected.groups[0].normalize = NormalizeOver::Group;  // mean -0.25 over 4 rows
  auto kept = sequences(collected, {0}, plain);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].advantage == 1.25);
  collected.groups[0].normalize = NormalizeOver::Subset;  // mean 2/3 over 3 rows
  kept = sequences(collected, {0}, plain);
  CHECK(kept[0].advantage == Approx(1.0 / 3));
  CHECK(kept[2].advantage == Approx(-2.0 / 3));
}

TEST_CASE("the tokens of a turn have its advantage, the sequence their mean") {
  TrainSequence sequence;
  sequence.tokens = {9, 1, 1, 5, 2, 5, 3, 3, 3};
  sequence.trained = {0, 1, 1, 0, 1, 0, 1, 1, 1};  // turns of two, one and three tokens between what was seen
  sequence.advantage = 7;
  advantages_by_turn(sequence, {2, 1, 3}, {1.0, -2.0, 0.5});
  CHECK(sequence.turn_advantages == std::vector<double>{0, 1, 1, 0, -2, 0, 0.5, 0.5, 0.5});
  CHECK(sequence.advantage == Approx((2 * 1.0 - 2.0 + 3 * 0.5) / 6));
  // A turn without tokens has none, and what was cut off has that of the last turn.
  advantages_by_turn(sequence, {2, 0, 1}, {1.0, 4.0, -1.0});
  CHECK(sequence.turn_advantages == std::vector<double>{0, 1, 1, 0, -1, 0, -1, -1, -1});
}
