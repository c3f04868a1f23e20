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

// Absent and null are the same.
std::optional<ondemand::value> member(ondemand::object& object, std::string_view key) {
  ondemand::value value;
  if (object.find_field_unordered(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  if (value.is_null()) return std::nullopt;
  return value;
}

std::string text(ondemand::object& object, std::string_view key) {
  auto value = member(object, key);
  std::string_view read;
  if (!value || value->get_string().get(read) != simdjson::SUCCESS) return {};
  return std::string(read);
}

// A number, or a string that holds one. NaN counts as absent.
std::optional<double> number(ondemand::object& object, std::string_view key) {
  auto value = member(object, key);
  if (!value) return std::nullopt;
  double read = 0;
  if (value->get_double().get(read) == simdjson::SUCCESS) return read;
  std::string_view written;
  if (value->get_string().get(written) != simdjson::SUCCESS) return std::nullopt;
  const auto [end, failure] = std::from_chars(written.data(), written.data() + written.size(), read);
  if (failure != std::errc() || end != written.data() + written.size() || std::isnan(read)) return std::nullopt;
  return read;
}

std::optional<std::int64_t> count(ondemand::object& object, std::string_view key) {
  const auto value = number(object, key);
  if (!value || *value < 0 || *value > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

bool read_turns(ondemand::object& object, std::vector<engine::Turn>& turns) {
  ondemand::array list;
  if (object.find_field_unordered("turns").get_array().get(list) != simdjson::SUCCESS) return false;
  for (auto element : list) {
    ondemand::object entry;
    if (element.get_object().get(entry) != simdjson::SUCCESS) return false;
    engine::Turn turn;
    auto valid = member(entry, "valid");
    bool truth = true;
    if (valid && valid->get_bool().get(truth) == simdjson::SUCCESS) turn.valid = truth;
    turn.action = text(entry, "action");
    if (turn.action.empty() || !turn.valid) turn.action = "invalid";
    turn.observation = text(entry, "obs");
    turn.tokens = static_cast<int>(std::min<std::int64_t>(count(entry, "n_gen_tokens").value_or(0), 1 << 30));
    auto tool = member(entry, "tool");
    turn.calls = tool ? 1 : 0;
    turns.push_back(std::move(turn));
  }
  return true;
}

std::optional<Wrong> read_object(ondemand::object& object, LoggedRollout& rollout, bool& with_turns) {
  const std::string schema = text(object, "schema");
  if (schema != "rollout/1") {
    return Wrong{schema.empty() ? "no field \"schema\""
                                : fmt::format("the schema is \"{}\", not \"rollout/1\"", schema)};
  }
  rollout.group = text(object, "group_id");
  if (rollout.group.empty()) return Wrong{"no field \"group_id\""};
  const auto sample = count(object, "sample_id");
  if (!sample) return Wrong{"no field \"sample_id\""};
  rollout.sample = *sample;
  rollout.prompt = text(object, "prompt_id");
  rollout.step = count(object, "step").value_or(0);
  rollout.planned = count(object, "planned");
  rollout.tokens = count(object, "n_gen_tokens");
  const std::string status = text(object, "status");
  const auto known = status_named(status);
  if (!known) return Wrong{fmt::format("the status \"{}\" is none of rollout/1", status)};
  rollout.status = *known;
  rollout.reward = number(object, "reward");
  if (rollout.reward && std::isinf(*rollout.reward)) return Wrong{"the reward is infinite"};
  with_turns = read_turns(object, rollout.turns);
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
    bool with_turns = false;
    const bool is_object = parser.iterate(padded).get(document) == simdjson::SUCCESS &&
                           document.get_object().get(object) == simdjson::SUCCESS;
    std::optional<Wrong> problem =
        is_object ? read_object(object, rollout, with_turns) : Wrong{"this is no JSON object"};
    if ((problem || !line.ends_with("}")) && ended) {  // cut short when the run was killed
      ++report.cut_lines;
      break;
    }
    if (problem) return wrong(problem->what);
    rollout.line = number;
    ++report.rollouts;
    report.without_turns += !with_turns;
    if (auto used = use(std::move(rollout)); !used) return wrong(used.error().what);
  }
  return report;
}

}  // namespace allot::replay
