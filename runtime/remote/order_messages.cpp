#include "runtime/remote/order_messages.h"

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/remote/reading.h"

namespace allot::remote {
namespace {

using engine::JsonText;
using Json = nlohmann::ordered_json;

engine::GroupResult read_group(const Json& json) {
  engine::GroupResult group;
  group.group = whole(json.at("group"));
  group.prompt = json.at("prompt").get<std::string>();
  group.slot = whole(json.at("slot"));
  group.round = whole(json.at("round"));
  group.fate = static_cast<engine::Fate>(whole(json.at("fate")));
  group.subset = wholes(json.at("subset"));
  group.normalize = static_cast<engine::NormalizeOver>(whole(json.at("over")));
  group.flat = json.at("flat").get<bool>();
  group.reason = json.at("reason").get<std::string>();
  group.rule = json.at("rule").get<std::string>();
  group.policy = json.at("policy").get<std::string>();
  const Json& gate = json.at("gate");
  group.gate = {gate.at(0).get<bool>(), gate.at(1).get<bool>(), gate.at(2).get<bool>(), gate.at(3).get<bool>()};
  for (const Json& reward : json.at("rewards")) {
    group.rewards.push_back(reward.is_null() ? std::nullopt : std::optional(reward.get<double>()));
  }
  group.iterations = wholes(json.at("iterations"));
  return group;
}

}  // namespace

void put_rollouts(JsonText& text, const std::vector<engine::RolloutRef>& rollouts) {
  text.begin_array();
  for (const engine::RolloutRef& rollout : rollouts) {
    text.begin_array().value(rollout.group).value(rollout.sample).end_array();
  }
  text.end_array();
}

void put_orders(JsonText& text, const engine::Orders& orders) {
  text.begin_object();
  if (!orders.start.empty()) {
    text.key("start").begin_array();
    for (const engine::Start& start : orders.start) {
      text.begin_array().value(start.group).value(start.prompt).value(start.first).value(start.count).end_array();
    }
    text.end_array();
  }
  const auto put = [&](std::string_view name, const std::vector<engine::RolloutRef>& rollouts) {
    if (rollouts.empty()) return;
    text.key(name);
    put_rollouts(text, rollouts);
  };
  put("stop", orders.stop);
  put("hold", orders.hold);
  put("release", orders.release);
  if (!orders.closed.empty()) {
    text.key("closed").begin_array();
    for (const engine::GroupResult& group : orders.closed) {
      text.begin_object().member("group", group.group).member("prompt", group.prompt).member("slot", group.slot);
      text.member("round", group.round).member("fate", static_cast<int>(group.fate)).member("subset", group.subset);
      text.member("over", static_cast<int>(group.normalize)).member("flat", group.flat).member("reason", group.reason);
      text.member("rule", group.rule).member("policy", group.policy).key("gate").begin_array();
      text.value(group.gate.asked)
          .value(group.gate.stop)
          .value(group.gate.late)
          .value(group.gate.carried_out)
          .end_array();
      text.member("rewards", group.rewards).member("iterations", group.iterations).end_object();
    }
    text.end_array();
  }
  if (!orders.deferred.empty()) text.member("deferred", orders.deferred);
  if (orders.batch_closed) text.member("batch_closed", true);
  text.end_object();
}

engine::Orders read_orders(const Json& json) {
  engine::Orders orders;
  if (json.contains("start")) {
    for (const Json& start : json.at("start")) {
      orders.start.push_back(
          {whole(start.at(0)), start.at(1).get<std::string>(), whole(start.at(2)), whole(start.at(3))});
    }
  }
  if (json.contains("stop")) orders.stop = read_rollouts(json.at("stop"));
  if (json.contains("hold")) orders.hold = read_rollouts(json.at("hold"));
  if (json.contains("release")) orders.release = read_rollouts(json.at("release"));
  if (json.contains("closed")) {
    for (const Json& group : json.at("closed")) orders.closed.push_back(read_group(group));
  }
  if (json.contains("deferred")) orders.deferred = wholes(json.at("deferred"));
  orders.batch_closed = json.value("batch_closed", false);
  return orders;
}

}  // namespace allot::remote
