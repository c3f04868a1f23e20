#include "runtime/remote/messages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace allot::remote {
namespace {

using engine::JsonText;
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 12> asks = {"seen",    "bye",    "events", "drive", "begin",   "end",
                                                   "preview", "unused", "pool",   "save",  "restore", "about"};

[[noreturn]] void refuse(const char* what) {
  throw std::invalid_argument(what);
}

// nlohmann's own conversion cuts what does not fit.
int whole(const Json& json) {
  if (!json.is_number_integer()) refuse("not a whole number");
  const auto number = json.get<std::int64_t>();
  if (json.is_number_unsigned() && number < 0) refuse("a number out of range");
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    refuse("a number out of range");
  return static_cast<int>(number);
}

std::uint64_t counter(const Json& json) {
  if (!json.is_number_unsigned()) refuse("not a count");
  return json.get<std::uint64_t>();
}

std::vector<int> wholes(const Json& json) {
  if (!json.is_array()) refuse("not a list");
  std::vector<int> numbers;
  for (const Json& number : json) numbers.push_back(whole(number));
  return numbers;
}

std::vector<engine::RolloutRef> read_rollouts(const Json& json) {
  if (!json.is_array()) refuse("not a list");
  std::vector<engine::RolloutRef> rollouts;
  for (const Json& pair : json) rollouts.push_back({whole(pair.at(0)), whole(pair.at(1))});
  return rollouts;
}

// ---- events: the journal's reader trusts its own checksums, so what it relies on is looked at here.

void check_column(const Json& record, const char* name, std::size_t size, int least) {
  if (!record.contains(name)) return;
  const std::vector<int> column = wholes(record.at(name));
  if (column.size() != size) refuse("columns of different lengths");
  for (const int number : column) {
    if (number < least) refuse("a number out of range");
  }
}

void check_numbers(const Json& numbers) {
  if (!numbers.is_array()) refuse("not a list");
  for (const Json& number : numbers) {
    if (!number.is_number() && !number.is_string()) refuse("not a number");
  }
}

void check_endings(const Json& endings) {
  constexpr auto least = static_cast<int>(engine::Status::Completed), most = static_cast<int>(engine::Status::Error);
  for (const Json& ending : endings) {
    const int status = whole(ending.at(0));
    if (status < least || status > most) refuse("no such status");
  }
}

void check_shapes(const Json& shapes) {
  for (const Json& shape : shapes) {
    (void)read_rollouts(shape.at("rollouts"));
    check_numbers(shape.at("advantages"));
    if (shape.contains("gram")) check_numbers(shape.at("gram"));
  }
}

engine::LoggedIteration read_checked_events(const Json& record) {
  const std::string kinds = record.at("kinds").get<std::string>();
  if (kinds.find_first_not_of("tTiIegm") != std::string::npos) refuse("no such event");
  const auto of = [&](std::string_view letters) {
    return static_cast<std::size_t>(std::count_if(
        kinds.begin(), kinds.end(), [&](char kind) { return letters.find(kind) != std::string_view::npos; }));
  };
  const std::size_t turns = of("tTiI"), endings = of("e"), shapes = of("gm");
  if (record.contains("at")) refuse("the engine has its own clock");
  for (const char* const name : {"g", "s"})
    check_column(record, name, turns + endings, std::numeric_limits<int>::min());
  for (const char* const name : {"a", "o", "n", "calls"}) check_column(record, name, turns, 0);
  for (const char* const name : {"logprob", "entropy"}) {
    if (record.contains(name)) check_numbers(record.at(name));
  }
  if (record.at("ends").size() != endings) refuse("columns of different lengths");
  check_endings(record.at("ends"));
  if (shapes > 0) check_shapes(record.at("shapes"));
  return engine::read_events(record);
}

// ---- orders

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

// ---- what else is answered

void put_report(JsonText& text, const engine::IterationReport& report) {
  text.begin_object().member("iteration", report.iteration).member("rounds", report.rounds);
  text.member("trained", report.trained).member("replayed", report.replayed).member("skip_update", report.skip_update);
  text.member("aborted", report.aborted)
      .member("message", report.message)
      .member("metrics", report.metrics)
      .end_object();
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
  report.metrics = json.at("metrics").get<std::map<std::string, double>>();
  return report;
}

void put_about(JsonText& text, const About& about) {
  text.begin_array().value(about.policy_name).value(about.policy_hash).value(about.gram).value(about.embeddings);
  text.value(about.shapes_groups).value(about.shapes_micro_batches).value(about.replay_age).value(about.active_version);
  text.value(about.saved_change).value(about.seconds_spent).end_array();
}

About read_about(const Json& json) {
  About about;
  about.policy_name = json.at(0).get<std::string>();
  about.policy_hash = json.at(1).get<std::string>();
  about.gram = json.at(2).get<bool>();
  about.embeddings = json.at(3).get<bool>();
  about.shapes_groups = json.at(4).get<bool>();
  about.shapes_micro_batches = json.at(5).get<bool>();
  about.replay_age = whole(json.at(6));
  about.active_version = whole(json.at(7));
  about.saved_change = whole(json.at(8));
  about.seconds_spent = json.at(9).get<double>();
  return about;
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

void put_rollouts(JsonText& text, const std::vector<engine::RolloutRef>& rollouts) {
  text.begin_array();
  for (const engine::RolloutRef& rollout : rollouts) {
    text.begin_array().value(rollout.group).value(rollout.sample).end_array();
  }
  text.end_array();
}

void begin_request(JsonText& text, std::uint64_t number, std::uint64_t seen, Ask ask) {
  text.begin_object().member("q", number).member("seen", seen).member("call", name(ask));
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
  if (answer.shaped) {
    const engine::Shaped& shaped = *answer.shaped;
    text.key("shaped").begin_array().value(shaped.advantages).value(shaped.weights).value(shaped.turns).end_array();
  }
  if (answer.about) put_about(text.key("about"), *answer.about);
  if (!answer.prompts.empty()) text.member("prompts", answer.prompts);
  if (!answer.state.empty()) text.member("state", answer.state);
  return closed(text);
}

Answer read_answer(std::string_view text) {
  const Json json = Json::parse(text);
  Answer answer;
  answer.serial = counter(json.at("m"));
  if (json.contains("q")) answer.number = counter(json.at("q"));
  answer.orders = read_orders(json.at("orders"));
  answer.error = read_error(json);
  if (json.contains("report")) answer.report = read_report(json.at("report"));
  if (json.contains("shaped")) {
    const Json& shaped = json.at("shaped");
    answer.shaped = {shaped.at(0).get<std::vector<double>>(), shaped.at(1).get<std::vector<double>>(),
                     shaped.at(2).get<std::vector<std::vector<double>>>()};
  }
  if (json.contains("about")) answer.about = read_about(json.at("about"));
  if (json.contains("prompts")) answer.prompts = json.at("prompts").get<std::vector<std::string>>();
  if (json.contains("state")) answer.state = json.at("state").get<std::string>();
  return answer;
}

}  // namespace allot::remote
