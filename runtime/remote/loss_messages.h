// `on loss of token` for a client, which asks it where the tokens are, and what it tells of that.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/json_text.h"
#include "runtime/engine/state.h"
#include "runtime/engine/token_loss.h"

namespace allot::remote {

// All that makes an engine::TokenLoss.
struct LossParts {
  std::string number;                             // of this loss; another one has another, at any engine
  std::string hash;                               // of the policy
  std::map<std::string, std::string> parameters;  // that were given for it
  std::string text;                               // engine::pack(); empty where the client has it
  int handler = 0;
  std::int64_t iteration = 0, epoch = 0;
  engine::StateCells states;
};

void put_loss(engine::JsonText& text, const LossParts& parts);
// As the journal has it, as members of an object that is open.
void put_tally(engine::JsonText& text, const engine::LossTally& tally);

// These throw std::exception where the text has another form, or counts that do not add up.
LossParts read_loss(const nlohmann::ordered_json& json);
engine::LossTally read_tally(const nlohmann::ordered_json& json);

}  // namespace allot::remote
