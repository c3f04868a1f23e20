#include "runtime/remote/messages.h"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/event_log.h"
#include "runtime/engine/swap_files.h"
#include "runtime/remote/event_messages.h"
#include "runtime/remote/order_messages.h"
#include "runtime/remote/reading.h"

namespace allot::remote {
namespace {

using engine::JsonText;
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 16> asks = {"seen",    "bye",    "events", "drive", "begin",   "end",
                                                   "preview", "unused", "pool",   "save",  "restore", "about",
                                                   "swap",    "outcome", "loss",  "tally"};

void put_report(JsonText& text, const engine::IterationReport& report) {
  text.begin_object().member("iteration", report.iteration).member("rounds", report.rounds);
  text.member("trained", report.trained).member("replayed", report.replayed).member("skip_update", report.skip_update);
  text.member("aborted", report.aborted).member("message", report.message).key("metrics").begin_object();
  for (const auto& [name, value] : report.metrics) engine::put_number(text.key(name), value);
  text.end_object().end_object();
}

engine::IterationReport read_report(const Json& json) {
  engine::IterationReport report;
  report.iteration = whole(json.at("iteration"));
  report.rounds = whole(json.at("rounds"));
  report.trained = wholes(json.at("trained"));
  report.replayed = wholes(json.at("replayed"));
  report.skip_update = json.at("skip_update").get<bool>();
  report.aborted = json.at("aborted").get<bool>();
  report.message = json.at("message").get<std::string>();
  for (const auto& [name, value] : json.at("metrics").items()) {
    report.metrics[name] = engine::read_number(value).value();
  }
  return report;
}

void put_about(JsonText& text, const About& about) {
  text.begin_array().value(about.policy_name).value(about.active.hash).value(about.gram).value(about.embeddings);
  text.value(about.shapes_groups).value(about.shapes_micro_batches).value(about.replay_age).value(about.active.number);
  text.value(about.saved_change).value(about.seconds_spent).value(about.active.parameters).end_array();
}

About read_about(const Json& json) {
  About about;
  about.policy_name = json.at(0).get<std::string>();
  about.active.hash = json.at(1).get<std::string>();
  about.gram = json.at(2).get<bool>();
  about.embeddings = json.at(3).get<bool>();
  about.shapes_groups = json.at(4).get<bool>();
  about.shapes_micro_batches = json.at(5).get<bool>();
  about.replay_age = whole(json.at(6));
  about.active.number = whole(json.at(7));
  about.saved_change = whole(json.at(8));
  about.seconds_spent = json.at(9).get<double>();
  about.active.parameters = json.at(10).get<std::map<std::string, std::string>>();
  return about;
}

void put_shaped(JsonText& text, const engine::Shaped& shaped) {
  text.begin_array();
  engine::put_numbers(text, shaped.advantages);
  engine::put_numbers(text, shaped.weights);
  text.begin_array();
  for (const std::vector<double>& turns : shaped.turns) engine::put_numbers(text, turns);
  text.end_array().end_array();
}

engine::Shaped read_shaped(const Json& json) {
  engine::Shaped shaped{engine::read_numbers(json.at(0)), engine::read_numbers(json.at(1)), {}};
  for (const Json& turns : json.at(2)) shaped.turns.push_back(engine::read_numbers(turns));
  return shaped;
}

// In the form of a run's folder, where `allot swap` puts it.
engine::SwapRequest read_swap_request(const Json& json) {
  auto request = engine::swap_request_from(json.get<std::string>());
  if (!request) refuse("no request for a swap");
  return *std::move(request);
}

engine::SwapReport read_swap_report(const Json& json) {
  auto report = engine::swap_report_from(json.get<std::string>());
  if (!report) refuse("no report of a swap");
  return *std::move(report);
}

void put_error(JsonText& text, const Error& error) {
  text.key("error").begin_array().value(error.what).value(error.help).end_array();
}

std::optional<Error> read_error(const Json& json) {
  if (!json.contains("error")) return std::nullopt;
  return Error{json.at("error").at(0).get<std::string>(), json.at("error").at(1).get<std::string>()};
}

std::string closed(JsonText& text) {
  return text.end_object().take();
}

}  // namespace

std::string_view name(Ask ask) {
  return asks[static_cast<std::size_t>(ask)];
}

void begin_request(JsonText& text, std::uint64_t number, std::uint64_t seen, Ask ask) {
  text.begin_object().member("q", number).member("seen", seen).member("call", name(ask));
}

void put_request(JsonText& text, const engine::SwapRequest& request) {
  text.member("request", engine::to_text(request));
}

void put_request(JsonText& text, const std::string& loss, std::int64_t iteration, const engine::LossTally& tally) {
  text.member("loss", loss).member("it", iteration);
  put_tally(text, tally);
}

std::string to_text(const Greeting& greeting) {
  JsonText text;
  text.begin_object()
      .member("allot", greeting.protocol)
      .member("client", greeting.client)
      .member("seen", greeting.seen);
  return closed(text);
}

Greeting read_greeting(std::string_view text) {
  const Json json = Json::parse(text);
  Greeting greeting{whole(json.at("allot")), json.at("client").get<std::string>(), counter(json.at("seen"))};
  if (greeting.client.empty() || greeting.client.size() > 64) refuse("no client's name");
  return greeting;
}

std::string to_text(const Welcome& welcome) {
  JsonText text;
  text.begin_object().member("allot", protocol).member("engine", welcome.engine).member("last", welcome.last);
  if (welcome.refused) put_error(text, *welcome.refused);
  return closed(text);
}

Welcome read_welcome(std::string_view text) {
  const Json json = Json::parse(text);
  return {json.at("engine").get<std::string>(), counter(json.at("last")), read_error(json)};
}

Request read_request(std::string_view text) {
  const Json json = Json::parse(text);
  Request request;
  if (!json.contains("q") && !json.contains("seen") && !json.contains("bye")) refuse("nothing that is known");
  if (json.contains("bye")) request.ask = Ask::Bye;
  if (json.contains("seen")) request.seen = counter(json.at("seen"));
  if (!json.contains("q")) return request;
  request.number = counter(json.at("q"));
  const auto ask = std::find(asks.begin(), asks.end(), json.at("call").get<std::string>());
  if (request.number == 0 || ask == asks.end()) refuse("no such request");
  request.ask = static_cast<Ask>(ask - asks.begin());
  switch (request.ask) {
    case Ask::Events:
      request.events = read_checked_events(json);
      break;
    case Ask::Drive:
      request.rollouts = read_rollouts(json.at("rollouts"));
      break;
    case Ask::Begin:
      request.iteration = whole(json.at("it"));
      request.events.prompts = json.at("prompts").get<std::vector<std::string>>();
      break;
    case Ask::Pool:
      request.pool = engine::read_pool(json);
      break;
    case Ask::Restore:
      request.state = json.at("state").get<std::string>();
      break;
    case Ask::Swap:
      request.swap = read_swap_request(json.at("request"));
      break;
    case Ask::Outcome:
      request.ticket = whole(json.at("ticket"));
      break;
    case Ask::Loss:
      request.known_policy = json.at("policy").get<std::string>();
      break;
    case Ask::Tally:
      request.loss = json.at("loss").get<std::string>();
      request.iteration = whole(json.at("it"));
      request.tally = read_tally(json);
      break;
    default:
      break;
  }
  return request;
}

std::string to_text(const Answer& answer) {
  JsonText text;
  text.begin_object().member("m", answer.serial);
  if (answer.number > 0) text.member("q", answer.number);
  text.key("orders");
  put_orders(text, answer.orders);
  if (answer.error) put_error(text, *answer.error);
  if (answer.report) put_report(text.key("report"), *answer.report);
  if (answer.shaped) put_shaped(text.key("shaped"), *answer.shaped);
  if (answer.about) put_about(text.key("about"), *answer.about);
  if (!answer.prompts.empty()) text.member("prompts", answer.prompts);
  if (!answer.state.empty()) text.member("state", answer.state);
  if (answer.ticket != 0) text.member("ticket", answer.ticket);
  if (answer.swap) text.member("swap", engine::to_text(*answer.swap));
  if (answer.loss) put_loss(text.key("loss"), *answer.loss);
  return closed(text);
}

namespace {

// What is beside the orders.
void read_asked(const Json& json, Answer& answer) {
  answer.error = read_error(json);
  if (json.contains("report")) answer.report = read_report(json.at("report"));
  if (json.contains("shaped")) answer.shaped = read_shaped(json.at("shaped"));
  if (json.contains("about")) answer.about = read_about(json.at("about"));
  if (json.contains("prompts")) answer.prompts = json.at("prompts").get<std::vector<std::string>>();
  if (json.contains("state")) answer.state = json.at("state").get<std::string>();
  if (json.contains("ticket")) answer.ticket = whole(json.at("ticket"));
  if (json.contains("swap")) answer.swap = read_swap_report(json.at("swap"));
  if (json.contains("loss")) answer.loss = read_loss(json.at("loss"));
}

}  // namespace

Answer read_answer(std::string_view text) {
  const Json json = Json::parse(text);
  Answer answer;
  answer.serial = counter(json.at("m"));
  if (json.contains("q")) answer.number = counter(json.at("q"));
  answer.orders = read_orders(json.at("orders"));
  try {
    read_asked(json, answer);
  } catch (const std::exception& problem) {
    Answer unknown;
    unknown.serial = answer.serial;
    unknown.number = answer.number;
    unknown.orders = std::move(answer.orders);
    unknown.error = Error{fmt::format("The engine's answer has a form that this program does not know: {}.",
                                      problem.what()),
                          "install the same version of Allot in every process"};
    return unknown;
  }
  return answer;
}

}  // namespace allot::remote
