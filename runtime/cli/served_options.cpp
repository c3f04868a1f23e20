#include "runtime/cli/served_options.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/inputs.h"
#include "runtime/engine/policy_edits.h"
#include "runtime/engine/settings_record.h"

namespace allot::cli {
namespace {

using Json = nlohmann::ordered_json;

// Members of the recorded settings by the option that sets them; `pause_below` has none.
constexpr std::array options{std::pair("seed", "--seed"),
                             std::pair("slots", "--slots"),
                             std::pair("group_size", "--group-size"),
                             std::pair("turn_limit", "--turns"),
                             std::pair("tokens_per_turn", "--tokens-per-turn"),
                             std::pair("shadow", "--shadow"),
                             std::pair("holdout", "--holdout"),
                             std::pair("stop_on_fault", "--stop-on-fault"),
                             std::pair("has_raw_reward", "--raw-reward"),
                             std::pair("host", "--can"),
                             std::pair("inputs", "--inputs")};

std::string shown(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string difference(const std::string& option, const std::string& was, const std::string& is) {
  return fmt::format("\n  {}: the run has {}, now it is {}", option, was, is);
}

// In the order in which settings_json() writes them.
std::string shown_host(const Json& host) {
  constexpr std::array abilities{"defers", "shapes", "replays", "branches", "scores", "losses"};
  std::string words;
  for (std::size_t i = 0; i < abilities.size() && i < host.size(); ++i) {
    if (host[i] == true) words += fmt::format("{}{}", words.empty() ? "" : ", ", abilities[i]);
  }
  return words.empty() ? "nothing" : words;
}

std::string setting_differences(const Json& kept, const Json& now) {
  std::string text;
  for (const auto& [member, option] : options) {
    const Json was = kept.value(member, Json()), is = now.value(member, Json());
    if (was == is) continue;
    const std::string name = member;
    if (name == "inputs") {
      text += fmt::format("\n  {}: the run has other values", option);
    } else {
      text += name == "host" ? difference(option, shown_host(was), shown_host(is)) : difference(option, shown(was), shown(is));
    }
  }
  return text;
}

std::string hash_of(const Json& policy) { return policy.is_object() ? policy.value("hash", "") : ""; }

// `is`: hash of the file's policy; empty where none is named, which stands for the one that the run has.
std::string policy_differences(const engine::Settings& settings, const std::string& is, const Json& kept) {
  std::string text;
  const std::string was = hash_of(kept);
  if (!is.empty() && is != was && (was.empty() || !engine::is_kept(settings.policy, engine::kept_texts(settings.run_folder)))) {
    text += difference("POLICY", was.empty() ? "none" : was.substr(0, 12), is.substr(0, 12));
  }
  if (kept.is_object() && kept.contains("set") && kept.at("set") != Json(settings.parameters)) {
    text += difference("--set", shown(kept.at("set")), shown(Json(settings.parameters)));
  }
  return text;
}

}  // namespace

Result<engine::Settings> check_resumed(const engine::Settings& settings) {
  const auto kept = engine::last_start(settings.run_folder);
  if (!kept || !kept->contains("settings")) return settings;
  engine::Settings complete = settings;
  if (!settings.input_file.empty()) {
    auto inputs = engine::read_inputs(settings.input_file);
    if (!inputs) return inputs.error();
    complete.inputs.merge(*std::move(inputs));
  }
  std::string hash;
  if (!settings.policy.empty()) {
    auto named = engine::policy_hash(settings.policy);
    if (!named) return Error{named.error().what, "leave POLICY out: a resumed run goes on under the text that its folder keeps"};
    hash = *std::move(named);
  }
  engine::Settings resumed = settings;
  std::string text;
  try {
    // Through text and back, as the kept ones went.
    const Json now = Json::parse(engine::settings_json(complete).dump());
    const Json policy = kept->value("policy", Json());
    text = policy_differences(settings, hash, policy) + setting_differences(kept->at("settings"), now);
    if (hash_of(policy) != hash) resumed.kept_policy = hash_of(policy);
  } catch (const Json::exception&) {
    return settings;  // of another program: whoever reads the journal tells
  }
  if (text.empty()) return resumed;
  return Error{"the run at " + settings.run_folder.string() + " was made with other options:" + text,
               "resume with the options of the run, without POLICY under the one that its folder keeps; once it is served, "
               "`allot swap` changes its policy and its parameters"};
}

}  // namespace allot::cli
