#include "runtime/engine/event_log.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

// Letters of events. A turn: its last in capitals, `i` where its action could not be parsed.
constexpr char ended_letter = 'e';
constexpr char group_letter = 'g';
constexpr char micro_letter = 'm';
constexpr char swap_letter = 's';

char letter(const Turn& turn) { return turn.valid ? (turn.last ? 'T' : 't') : (turn.last ? 'I' : 'i'); }

void add_with_comma(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

}  // namespace

void put_number(JsonText& text, std::optional<double> number) {
  if (!number || std::isfinite(*number)) {
    text.value(number);
  } else {
    text.value(std::isnan(*number) ? "nan" : *number > 0 ? "inf" : "-inf");
  }
}

std::optional<double> read_number(const Json& json) {
  if (json.is_null()) return std::nullopt;
  if (json.is_number()) return json.get<double>();
  const std::string word = json.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  return json.get<double>();  // it is none: refused as everything of a wrong type is
}

void put_numbers(JsonText& text, const std::vector<double>& numbers) {
  text.begin_array();
  for (const double number : numbers) put_number(text, number);
  text.end_array();
}

std::vector<double> read_numbers(const Json& json) {
  std::vector<double> numbers;
  for (const Json& number : json) {
    const auto read = read_number(number);
    numbers.push_back(read ? *read : number.get<double>());  // nothing is no number either
  }
  return numbers;
}

void EventLog::begin(const std::vector<std::string>& prompts, std::optional<double> now) {
  clear();
  begun_ = true;
  prompts_ = prompts;
  if (now) times_.push_back(*now);
}

void EventLog::clear() { *this = EventLog(); }

void EventLog::add(char kind, RolloutRef rollout, std::optional<double> now) {
  kinds_ += kind;
  groups_.push_back(rollout.group);
  samples_.push_back(rollout.sample);
  if (now) times_.push_back(*now);
}

int EventLog::text_index(const std::string& text) {
  const auto [found, added] = indices_.try_emplace(text, static_cast<int>(texts_.size()));
  if (added) texts_.push_back(text);
  return found->second;
}

void EventLog::turn(RolloutRef rollout, const Turn& turn, bool with_observation, std::optional<double> now) {
  add(letter(turn), rollout, now);
  actions_.push_back(text_index(turn.action));
  observations_.push_back(text_index(with_observation ? turn.observation : ""));
  tokens_.push_back(turn.tokens);
  calls_.push_back(turn.calls);
  logprobs_.push_back(turn.logprob);
  entropies_.push_back(turn.entropy);
  calls_told_ = calls_told_ || turn.calls != 0;
  numbers_told_ = numbers_told_ || turn.logprob != 0 || turn.entropy != 0;
}

void EventLog::ended(RolloutRef rollout, const Ending& ending, std::optional<double> now) {
  add(ended_letter, rollout, now);
  JsonText text;
  text.begin_array().value(static_cast<int>(ending.status));
  put_number(text, ending.reward);
  put_number(text, ending.raw_reward);
  text.value(ending.cause).value(ending.answer).end_array();
  add_with_comma(endings_, text.text());
}

void EventLog::put_shape(const MicroBatch& batch) {
  JsonText text;
  text.begin_object().key("rollouts").begin_array();
  for (const RolloutRef& rollout : batch.rollouts) {
    text.begin_array().value(rollout.group).value(rollout.sample).end_array();
  }
  text.end_array().key("advantages");
  put_numbers(text, batch.advantages);
  if (!batch.gram.empty()) {
    text.key("gram");
    put_numbers(text, batch.gram);
  }
  if (!batch.embeddings.empty()) {
    text.key("embeddings");
    put_numbers(text, batch.embeddings);
  }
  add_with_comma(shapes_, text.end_object().text());
}

void EventLog::shape_group(const MicroBatch& group) {
  kinds_ += group_letter;
  put_shape(group);
}

void EventLog::shape(const MicroBatch& batch) {
  kinds_ += micro_letter;
  put_shape(batch);
}

// Between two iterations its place is that of its record.
void EventLog::swapped() {
  if (begun_) kinds_ += swap_letter;
}

void EventLog::put(JsonText& text) const {
  text.member("prompts", prompts_).member("kinds", kinds_).member("g", groups_).member("s", samples_);
  text.member("texts", texts_).member("a", actions_).member("o", observations_).member("n", tokens_);
  if (calls_told_) text.member("calls", calls_);
  if (numbers_told_) {
    text.key("logprob");
    put_numbers(text, logprobs_);
    text.key("entropy");
    put_numbers(text, entropies_);
  }
  text.key("ends").begin_array().raw(endings_).end_array();
  if (!shapes_.empty()) text.key("shapes").begin_array().raw(shapes_).end_array();
  if (!times_.empty()) text.member("at", times_);
}

namespace {

// One event after the other from the columns of a record.
class Columns {
 public:
  explicit Columns(const Json& record)
      : record_(record), times_(record.contains("at") ? read_numbers(record.at("at")) : std::vector<double>()) {}

  std::optional<double> next_time() {
    return times_.empty() ? std::nullopt : std::optional(times_.at(time_++));
  }

  LoggedEvent next(char kind) {
    LoggedEvent event;
    if (kind == swap_letter) {
      event.kind = LoggedEvent::Kind::Swap;
      return event;
    }
    if (kind == group_letter || kind == micro_letter) {
      event.kind = kind == group_letter ? LoggedEvent::Kind::ShapeGroup : LoggedEvent::Kind::Shape;
      event.batch = read_shape(record_.at("shapes").at(shape_++));
      return event;
    }
    event.rollout = {record_.at("g").at(at_).get<int>(), record_.at("s").at(at_).get<int>()};
    ++at_;
    event.now = next_time();
    if (kind == ended_letter) {
      event.kind = LoggedEvent::Kind::Ended;
      event.ending = read_ending(record_.at("ends").at(end_++));
    } else {
      event.turn = read_turn(kind);
    }
    return event;
  }

 private:
  Turn read_turn(char kind) {
    const auto text = [&](const char* column) {
      return record_.at("texts").at(record_.at(column).at(turn_).get<std::size_t>()).get<std::string>();
    };
    Turn turn;
    turn.action = text("a");
    turn.observation = text("o");
    turn.valid = kind == 't' || kind == 'T';
    turn.last = kind == 'T' || kind == 'I';
    turn.tokens = record_.at("n").at(turn_).get<int>();
    if (record_.contains("calls")) turn.calls = record_.at("calls").at(turn_).get<int>();
    if (record_.contains("logprob")) turn.logprob = *read_number(record_.at("logprob").at(turn_));
    if (record_.contains("entropy")) turn.entropy = *read_number(record_.at("entropy").at(turn_));
    ++turn_;
    return turn;
  }

  static Ending read_ending(const Json& json) {
    return {static_cast<Status>(json.at(0).get<int>()), read_number(json.at(1)), read_number(json.at(2)),
            json.at(3).get<std::string>(), json.at(4).get<std::string>()};
  }

  static MicroBatch read_shape(const Json& json) {
    MicroBatch batch;
    for (const Json& rollout : json.at("rollouts")) batch.rollouts.push_back({rollout.at(0).get<int>(), rollout.at(1).get<int>()});
    batch.advantages = read_numbers(json.at("advantages"));
    if (json.contains("gram")) batch.gram = read_numbers(json.at("gram"));
    if (json.contains("embeddings")) batch.embeddings = read_numbers(json.at("embeddings"));
    return batch;
  }

  const Json& record_;
  std::vector<double> times_;
  std::size_t time_ = 0, at_ = 0, turn_ = 0, end_ = 0, shape_ = 0;
};

}  // namespace

LoggedIteration read_events(const Json& record) {
  LoggedIteration iteration;
  iteration.prompts = record.at("prompts").get<std::vector<std::string>>();
  Columns columns(record);
  iteration.begun = columns.next_time();
  for (const char kind : record.at("kinds").get<std::string>()) iteration.events.push_back(columns.next(kind));
  return iteration;
}

void put_pool(JsonText& text, const std::vector<PoolPrompt>& prompts) {
  text.key("prompts").begin_array();
  for (const PoolPrompt& prompt : prompts) {
    text.begin_array().value(prompt.key).value(prompt.category).end_array();
  }
  text.end_array();
}

std::vector<PoolPrompt> read_pool(const Json& record) {
  std::vector<PoolPrompt> prompts;
  for (const Json& json : record.at("prompts")) {
    prompts.push_back({json.at(0).get<std::string>(), json.at(1).get<std::string>()});
  }
  return prompts;
}

}  // namespace allot::engine
