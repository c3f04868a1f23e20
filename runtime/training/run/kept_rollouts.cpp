#include "runtime/training/run/kept_rollouts.h"

#include <nlohmann/json.hpp>

namespace allot::training {
namespace {

using Json = nlohmann::json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> read_reward(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(json.get<double>());
}

Json rollout_json(const Rollout& rollout) {
  Json turns = Json::array();
  for (const RolloutTurn& turn : rollout.turns)
    turns.push_back({turn.observation, turn.raw, turn.action, turn.valid, turn.tokens});
  return {{"group", rollout.ref.group},
          {"sample", rollout.ref.sample},
          {"iteration", rollout.iteration},
          {"prompt", rollout.prompt},
          {"status", static_cast<int>(rollout.status)},
          {"reward", or_null(rollout.reward)},
          {"tokens", rollout.tokens},
          {"trained", rollout.trained},
          {"logprobs", rollout.logprobs},  // a float survives the way through a double
          {"turns", std::move(turns)},
          {"generated", rollout.generated},
          {"seconds", {rollout.seconds_start, rollout.seconds_end}},
          {"cause", rollout.cause}};
}

Rollout read_rollout(const Json& json) {
  Rollout rollout;
  rollout.ref = {json.at("group").get<int>(), json.at("sample").get<int>()};
  rollout.iteration = json.at("iteration").get<int>();
  rollout.prompt = json.at("prompt").get<std::string>();
  rollout.status = static_cast<engine::Status>(json.at("status").get<int>());
  rollout.reward = read_reward(json.at("reward"));
  rollout.tokens = json.at("tokens").get<std::vector<int>>();
  rollout.trained = json.at("trained").get<std::vector<std::uint8_t>>();
  rollout.logprobs = json.at("logprobs").get<std::vector<float>>();
  for (const Json& turn : json.at("turns"))
    rollout.turns.push_back({turn.at(0).get<std::string>(), turn.at(1).get<std::string>(), turn.at(2).get<std::string>(),
                             turn.at(3).get<bool>(), turn.at(4).get<int>()});
  rollout.generated = json.at("generated").get<int>();
  rollout.seconds_start = json.at("seconds").at(0).get<double>();
  rollout.seconds_end = json.at("seconds").at(1).get<double>();
  rollout.cause = json.at("cause").get<std::string>();
  return rollout;
}

Json rollouts_json(const std::vector<Rollout>& rollouts) {
  Json json = Json::array();
  for (const Rollout& rollout : rollouts) json.push_back(rollout_json(rollout));
  return json;
}

std::vector<Rollout> read_rollouts(const Json& json) {
  std::vector<Rollout> rollouts;
  for (const Json& rollout : json) rollouts.push_back(read_rollout(rollout));
  return rollouts;
}

}  // namespace

Json save(const KeptRollouts& kept) {
  Json json = Json::array();
  for (const auto& [group, rollouts] : kept) json.push_back(rollouts_json(rollouts));
  return json;
}

KeptRollouts restore_rollouts(const Json& saved) {
  KeptRollouts kept;
  for (const Json& group : saved) {
    auto rollouts = read_rollouts(group);
    if (!rollouts.empty()) kept.emplace(rollouts.front().ref.group, std::move(rollouts));
  }
  return kept;
}

Json save(const StoredGroups& stored) {
  Json json = Json::array();
  for (const auto& [number, group] : stored) {
    Json rewards = Json::array();
    for (const auto& reward : group.result.rewards) rewards.push_back(or_null(reward));
    json.push_back({{"group", number},
                    {"iteration", group.iteration},
                    {"prompt", group.result.prompt},
                    {"subset", group.result.subset},
                    {"whole", group.result.normalize == engine::NormalizeOver::Group},
                    {"rewards", std::move(rewards)},
                    {"rollouts", rollouts_json(group.rollouts)}});
  }
  return json;
}

StoredGroups restore_groups(const Json& saved) {
  StoredGroups stored;
  for (const Json& json : saved) {
    StoredGroup group;
    group.iteration = json.at("iteration").get<int>();
    group.result.group = json.at("group").get<int>();
    group.result.prompt = json.at("prompt").get<std::string>();
    group.result.subset = json.at("subset").get<std::vector<int>>();
    const bool whole = json.at("whole").get<bool>();
    group.result.normalize = whole ? engine::NormalizeOver::Group : engine::NormalizeOver::Subset;
    for (const Json& reward : json.at("rewards")) group.result.rewards.push_back(read_reward(reward));
    group.rollouts = read_rollouts(json.at("rollouts"));
    const int number = group.result.group;
    stored.emplace(number, std::move(group));
  }
  return stored;
}

}  // namespace allot::training
