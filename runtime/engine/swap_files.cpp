#include "runtime/engine/swap_files.h"

#include <unistd.h>

#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array outcomes{SwapOutcome::Active,    SwapOutcome::Waiting, SwapOutcome::Canary,
                              SwapOutcome::Unchanged, SwapOutcome::Refused, SwapOutcome::Superseded};

// Calls `read` with the JSON of a sealed text; none where it is damaged or of another form.
template <typename T, typename Read>
std::optional<T> read_sealed(std::string text, const Read& read) {
  while (text.ends_with('\n')) text.pop_back();
  const auto json = unseal(text);
  if (!json) return std::nullopt;
  try {
    return read(*json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string sealed(const Json& json) { return seal(dump(json)) + "\n"; }

Json word_of(std::optional<StateOf> back) { return back ? Json(*back == StateOf::Then ? "then" : "now") : Json(); }

std::optional<StateOf> state_of(const Json& back) {
  if (back.is_null()) return std::nullopt;
  return back == "then" ? StateOf::Then : StateOf::Now;
}

// JSON has null for what is no finite number. That is no share, which is for the engine to say.
double share_of(const Json& share) {
  return share.is_null() ? std::numeric_limits<double>::quiet_NaN() : share.get<double>();
}

}  // namespace

std::string to_text(const SwapRequest& request) {
  Json json{{"schema", "swap/1"},
            {"by", request.by},
            {"expected", request.expected},
            {"now", request.now},
            {"canary", request.canary},
            {"confirmed", request.confirmed},
            {"parameters", request.parameters},
            {"back", word_of(request.back)},
            {"policy", request.back ? Json() : to_json(request.text)}};
  return sealed(json);
}

Result<SwapRequest> swap_request_from(const std::string& text) {
  const auto request = read_sealed<SwapRequest>(text, [](const Json& json) {
    SwapRequest read;
    read.by = json.at("by").get<std::string>();
    read.expected = json.at("expected").get<std::string>();
    read.now = json.at("now").get<bool>();
    read.canary = share_of(json.at("canary"));
    read.confirmed = json.value("confirmed", read.by != "watch");  // requests of earlier programs do not say
    read.parameters = json.at("parameters").get<std::map<std::string, std::string>>();
    read.back = state_of(json.at("back"));
    if (!json.at("policy").is_null()) read.text = policy_text_from(json.at("policy"));
    return read;
  });
  if (!request) return Error{"The request is damaged, or of a form that this program does not know.", "ask again"};
  return *request;
}

std::string to_text(const SwapReport& report) {
  const StateChanges& state = report.state;
  return sealed({{"ticket", report.ticket},
                 {"outcome", name(report.outcome)},
                 {"from", report.from},
                 {"to", report.to},
                 {"parameters", report.parameters},
                 {"version", report.version},
                 {"change", report.change},
                 {"iteration", report.iteration},
                 {"by", report.by},
                 {"reason", report.reason},
                 {"state", {{"kept", state.kept}, {"migrated", state.migrated}, {"started", state.started}, {"dropped", state.dropped}}},
                 {"groups_moved", report.groups_moved},
                 {"groups_restarted", report.groups_restarted},
                 {"seconds", report.seconds},
                 {"now", report.now},
                 {"canary", report.canary},
                 {"back", word_of(report.back)}});
}

std::optional<SwapReport> swap_report_from(const std::string& text) {
  return read_sealed<SwapReport>(text, [](const Json& json) {
    SwapReport report;
    report.ticket = json.at("ticket").get<int>();
    for (const SwapOutcome outcome : outcomes) {
      if (json.at("outcome") == name(outcome)) report.outcome = outcome;
    }
    report.from = json.at("from").get<std::string>();
    report.to = json.at("to").get<std::string>();
    report.parameters = json.value("parameters", std::map<std::string, std::string>());
    report.version = json.at("version").get<int>();
    report.change = json.value("change", report.version);
    report.iteration = json.at("iteration").get<int>();
    report.by = json.at("by").get<std::string>();
    report.reason = json.at("reason").get<std::string>();
    const Json& state = json.at("state");
    const auto names = [&](const char* of) { return state.at(of).get<std::vector<std::string>>(); };
    report.state = {names("kept"), names("migrated"), names("started"), names("dropped")};
    report.groups_moved = json.at("groups_moved").get<int>();
    report.groups_restarted = json.at("groups_restarted").get<int>();
    report.seconds = json.at("seconds").get<double>();
    report.now = json.value("now", false);  // answers of earlier programs do not say
    report.canary = share_of(json.value("canary", Json(0.0)));
    report.back = state_of(json.value("back", Json()));
    return report;
  });
}

std::string to_text(const Beat& beat) {
  return sealed({{"host", beat.host}, {"process", beat.process}, {"count", beat.count}, {"policy", beat.policy}, {"version", beat.version},
                 {"parameters", beat.parameters}, {"segment", beat.segment}});
}

std::optional<Beat> beat_from(const std::string& text) {
  return read_sealed<Beat>(text, [](const Json& json) {
    return Beat{json.at("host").get<std::string>(), json.at("process").get<std::int64_t>(), json.at("count").get<std::int64_t>(),
                json.at("policy").get<std::string>(), json.at("version").get<int>(),
                json.value("parameters", std::map<std::string, std::string>()), json.value("segment", 0)};
  });
}

std::string to_text(const Watched& watched) { return sealed({{"file", watched.file}, {"sha256", watched.hash}}); }

std::optional<Watched> watched_from(const std::string& text) {
  return read_sealed<Watched>(text, [](const Json& json) {
    return Watched{json.at("file").get<std::string>(), json.at("sha256").get<std::string>()};
  });
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace allot::engine
