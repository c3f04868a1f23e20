#include "runtime/replay/rollout_log.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "runtime/replay/lines.h"

namespace allot::replay {

namespace {

namespace ondemand = simdjson::ondemand;
using engine::Status;

// What is wrong with a line, for people; thrown nowhere, kept until the line is done.
struct Wrong {
  std::string what;
};

std::optional<Status> status_named(std::string_view word) {
  for (const Status status : {Status::NeverStarted, Status::Running, Status::Completed, Status::Truncated,
                              Status::Stopped, Status::Aborted, Status::Timeout, Status::Error}) {
    if (engine::name(status) == word) return status;
  }
  return std::nullopt;
}

constexpr std::int64_t most_count = 1'000'000'000;
constexpr std::int64_t most_tokens = 1'000'000'000'000'000;

// The fields of one JSON object, by name. Absent and null are the same; of what does not fit its field the first is kept.
class Fields {
 public:
  Fields(ondemand::object& object, ReadReport& report, std::string of = {}) : object_(object), report_(report), of_(std::move(of)) {}

  const std::optional<Wrong>& wrong() const { return wrong_; }

  std::optional<ondemand::value> find(std::string_view key) {
    ondemand::value value;
    if (object_.find_field_unordered(key).get(value) != simdjson::SUCCESS) return std::nullopt;
    if (value.is_null()) return std::nullopt;
    return value;
  }

  std::optional<std::string> text(std::string_view key) {
    auto value = find(key);
    if (!value) return std::nullopt;
    std::string_view read;
    if (value->get_string().get(read) == simdjson::SUCCESS) return std::string(read);
    return refuse(key, "no text"), std::nullopt;
  }

  // A number, or a text that holds one. NaN counts as absent.
  std::optional<double> number(std::string_view key) {
    auto value = find(key);
    if (!value) return std::nullopt;
    double read = 0;
    if (value->get_double().get(read) == simdjson::SUCCESS) return read;
    std::string_view written;
    if (value->get_string().get(written) != simdjson::SUCCESS) return refuse(key, "no number"), std::nullopt;
    const auto [end, failure] = std::from_chars(written.data(), written.data() + written.size(), read);
    if (failure != std::errc() || end != written.data() + written.size()) return refuse(key, "no number"), std::nullopt;
    ++report_.numbers_as_texts;
    return std::isnan(read) ? std::nullopt : std::optional(read);
  }

  std::optional<std::int64_t> count(std::string_view key, std::int64_t most = most_count) {
    const auto value = number(key);
    if (!value) return std::nullopt;
    if (*value >= 0 && *value <= static_cast<double>(most) && *value == std::floor(*value)) return static_cast<std::int64_t>(*value);
    return refuse(key, fmt::format("no whole number in 0..{}", most)), std::nullopt;
  }

  std::optional<bool> truth(std::string_view key) {
    auto value = find(key);
    if (!value) return std::nullopt;
    bool read = false;
    if (value->get_bool().get(read) == simdjson::SUCCESS) return read;
    return refuse(key, "neither true nor false"), std::nullopt;
  }

  void refuse(std::string_view key, std::string_view what) {
    if (!wrong_) wrong_ = Wrong{fmt::format("{}the field \"{}\" is {}", of_, key, what)};
  }
  void miss(std::string_view key) {
    if (!wrong_) wrong_ = Wrong{fmt::format("{}no field \"{}\"", of_, key)};
  }

 private:
  ondemand::object& object_;
  ReadReport& report_;
  std::string of_;  // "turn 3: "
  std::optional<Wrong> wrong_;
};

Result<engine::Turn> read_turn(ondemand::object& object, std::size_t index, ReadReport& report) {
  Fields fields(object, report, fmt::format("turn {}: ", index));
  engine::Turn turn;
  turn.valid = fields.truth("valid").value_or(true);
  const std::optional<std::string> action = fields.text("action");
  report.turns_without_action += !action && turn.valid;
  turn.action = action && !action->empty() && turn.valid ? *action : "invalid";
  turn.observation = fields.text("obs").value_or("");
  const auto tokens = fields.count("n_gen_tokens");
  report.turns_without_tokens += !tokens;
  turn.tokens = static_cast<int>(tokens.value_or(0));
  turn.calls = fields.find("tool") ? 1 : 0;
  if (fields.wrong()) return Error{fields.wrong()->what, ""};
  return turn;
}

// None: the log does not tell of turns.
Result<std::optional<std::vector<engine::Turn>>> read_turns(Fields& fields, ReadReport& report) {
  using Turns = std::optional<std::vector<engine::Turn>>;
  auto value = fields.find("turns");
  if (!value) return Turns();
  const Error no_list{"the field \"turns\" is no list of objects", ""};
  ondemand::array list;
  if (value->get_array().get(list) != simdjson::SUCCESS) return no_list;
  std::vector<engine::Turn> turns;
  for (auto element : list) {
    ondemand::object entry;
    if (element.get_object().get(entry) != simdjson::SUCCESS) return no_list;
    auto turn = read_turn(entry, turns.size(), report);
    if (!turn) return turn.error();
    turns.push_back(*std::move(turn));
  }
  return Turns(std::move(turns));
}

std::optional<Wrong> read_object(ondemand::object& object, LoggedRollout& rollout, ReadReport& report) {
  Fields fields(object, report);
  const auto schema = fields.text("schema");
  if (!schema) fields.miss("schema");
  if (schema && *schema != "rollout/1") return Wrong{fmt::format("the schema is \"{}\", not \"rollout/1\"", *schema)};
  const auto group = fields.text("group_id");
  if (!group || group->empty()) fields.miss("group_id");
  const auto sample = fields.count("sample_id");
  if (!sample) fields.miss("sample_id");
  const auto status = fields.text("status");
  if (!status) fields.miss("status");
  if (fields.wrong()) return fields.wrong();
  rollout.group = *group;
  rollout.sample = *sample;
  const auto known = status_named(*status);
  if (!known) return Wrong{fmt::format("the status \"{}\" is none of rollout/1", *status)};
  rollout.status = *known;
  rollout.prompt = fields.text("prompt_id").value_or("");
  rollout.step = fields.count("step").value_or(0);
  rollout.planned = fields.count("planned");
  rollout.tokens = fields.count("n_gen_tokens", most_tokens);
  (void)fields.count("n_turns");
  rollout.reward = fields.number("reward");
  if (rollout.reward && std::isinf(*rollout.reward)) return Wrong{"the reward is infinite"};
  if (fields.wrong()) return fields.wrong();
  auto turns = read_turns(fields, report);
  if (!turns) return Wrong{turns.error().what};
  report.without_turns += !*turns;
  if (*turns) rollout.turns = *std::move(*turns);
  return std::nullopt;
}

}  // namespace

Result<ReadReport> read_rollouts(const std::filesystem::path& file,
                                 const std::function<Result<void>(LoggedRollout)>& use) {
  auto lines = Lines::open(file);
  if (!lines) return lines.error();
  ReadReport report;
  ondemand::parser parser(Lines::most_bytes);
  std::string line;
  while (true) {
    const auto more = lines->next(line);
    const int number = lines->number();
    const auto wrong = [&](const std::string& what) {
      return Error{fmt::format("{}:{}: {}", file.string(), number, what), ""};
    };
    if (!more) return wrong(more.error().what);
    if (!*more) break;
    const bool ended = !lines->whole();  // the last line, without a line end
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (!simdjson::validate_utf8(line)) return wrong("the line is not UTF-8");
    const simdjson::padded_string padded(line);
    ondemand::document document;
    ondemand::object object;
    LoggedRollout rollout;
    ReadReport told = report;
    const bool is_object = parser.iterate(padded).get(document) == simdjson::SUCCESS &&
                           document.get_object().get(object) == simdjson::SUCCESS;
    std::optional<Wrong> problem =
        is_object ? read_object(object, rollout, told) : Wrong{"this is no JSON object"};
    if ((problem || !line.ends_with("}")) && ended) {  // cut short when the run was killed
      ++report.cut_lines;
      break;
    }
    if (problem) return wrong(problem->what);
    rollout.line = number;
    report = told;
    ++report.rollouts;
    if (auto used = use(std::move(rollout)); !used) return wrong(used.error().what);
  }
  return report;
}

}  // namespace allot::replay
