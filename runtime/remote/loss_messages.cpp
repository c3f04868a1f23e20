#include "runtime/remote/loss_messages.h"

#include <nlohmann/json.hpp>

#include "runtime/engine/saved_group.h"
#include "runtime/remote/reading.h"

namespace allot::remote {

using engine::JsonText;
using Json = nlohmann::ordered_json;

void put_loss(JsonText& text, const LossParts& parts) {
  text.begin_object().member("number", parts.number);
  text.member("policy", parts.hash).member("parameters", parts.parameters);
  if (!parts.text.empty()) text.member("text", parts.text);
  text.member("h", parts.handler).member("it", parts.iteration).member("epoch", parts.epoch);
  engine::put_cells(text.key("states"), parts.states);
  text.end_object();
}

LossParts read_loss(const Json& json) {
  LossParts parts;
  parts.number = json.at("number").get<std::string>();
  parts.hash = json.at("policy").get<std::string>();
  parts.parameters = json.at("parameters").get<std::map<std::string, std::string>>();
  parts.text = json.value("text", "");
  parts.handler = whole(json.at("h"));
  parts.iteration = whole(json.at("it"));
  parts.epoch = json.at("epoch").get<std::int64_t>();
  const nlohmann::json states = json.at("states");
  parts.states = engine::read_cells(states);
  return parts;
}

void put_tally(JsonText& text, const engine::LossTally& tally) {
  text.member("h", tally.handler).member("asked", tally.asked).member("rules", tally.rules);
  text.member("none", tally.none).member("faults", tally.faults).member("fault", tally.first_fault);
}

engine::LossTally read_tally(const Json& json) {
  constexpr std::size_t longest_fault = 1 << 16;
  engine::LossTally tally;
  tally.handler = whole(json.at("h"));
  tally.asked = amount(json.at("asked"));
  tally.none = amount(json.at("none"));
  tally.faults = amount(json.at("faults"));
  std::int64_t sum = tally.none + tally.faults;
  for (const Json& rule : json.at("rules")) {
    sum += tally.rules.emplace_back(amount(rule));
    if (sum > tally.asked) break;
  }
  tally.first_fault = json.at("fault").get<std::string>();
  if (sum != tally.asked || tally.first_fault.size() > longest_fault) refuse("counts that do not add up");
  return tally;
}

}  // namespace allot::remote
