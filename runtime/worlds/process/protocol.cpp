#include "runtime/worlds/process/protocol.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "runtime/worlds/process/utf8.h"

namespace allot::worlds::process {
namespace {

using Json = nlohmann::json;

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What a person needs to see of a line that went wrong.
std::string excerpt(std::string_view line) {
  std::string text(line.substr(0, 80));
  while (const auto bad = first_bad_utf8(text)) text[*bad] = '?';
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return "`" + text + (line.size() > 80 ? "…`" : "`");
}

Error wrong(std::string what, std::string_view line) {
  return Error{"answered with " + std::move(what) + ": " + excerpt(line), {}};
}

Result<Json> read(std::string_view line, long id) {
  if (const auto bad = first_bad_utf8(line)) {
    return Error{"printed a line that is not UTF-8 (byte " + std::to_string(*bad) + "): " + excerpt(line), {}};
  }
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return Error{"printed a line that is not a JSON object: " + excerpt(line), {}};
  const auto number = json.find("id");
  if (number == json.end() || !number->is_number_integer() || *number != id) {
    return wrong("another `id` than " + std::to_string(id) + ", that of the request", line);
  }
  if (const auto error = json.find("error"); error != json.end()) {
    const std::string message = error->is_string() ? error->get<std::string>() : line_of(*error);
    return Error{"reported an error: " + message, std::string(reported)};
  }
  return json;
}

std::optional<std::string> optional_string(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

bool has_other_type(const Json& json, const char* key, bool (*right)(const Json&)) {
  const auto found = json.find(key);
  return found != json.end() && !found->is_null() && !right(*found);
}
bool is_flag(const Json& json) { return json.is_boolean(); }
bool is_text(const Json& json) { return json.is_string(); }

// A null or missing reward is none; anything but a finite number is an error, never 0.
Result<std::optional<double>> read_reward(const Json& json, std::string_view line) {
  const auto found = json.find("reward");
  if (found == json.end() || found->is_null()) return std::optional<double>{};
  if (!found->is_number() || !std::isfinite(found->get<double>())) return wrong("a `reward` that is no number", line);
  return std::optional(found->get<double>());
}

Result<Reply> read_reply(const Json& json, std::string_view line) {
  auto observation = optional_string(json, "observation");
  if (!observation) return wrong("no text as `observation`", line);
  if (has_other_type(json, "valid", is_flag)) return wrong("a `valid` that is neither true nor false", line);
  if (has_other_type(json, "done", is_flag)) return wrong("a `done` that is neither true nor false", line);
  if (has_other_type(json, "action", is_text)) return wrong("an `action` that is no text", line);
  auto reward = read_reward(json, line);
  if (!reward) return reward.error();
  const auto flag = [&json](const char* key, bool otherwise) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? otherwise : found->get<bool>();
  };
  return Reply{.observation = *std::move(observation),
               .action = optional_string(json, "action").value_or(""),
               .valid = flag("valid", true),
               .done = flag("done", false),
               .reward = *reward};
}

// The tasks of one split: a count, or a list of names or of objects {"id", "kind", "seed"}.
Result<std::vector<Task>> read_tasks(const Json& tasks, const char* split, std::string_view line) {
  std::vector<Task> read;
  const auto found = tasks.find(split);
  if (found == tasks.end()) return read;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() <= 10'000'000) {
    for (std::uint64_t i = 0; i < found->get<std::uint64_t>(); ++i) {
      read.push_back({.id = std::string(split) + "-" + std::to_string(i), .kind = {}, .seed = i});
    }
    return read;
  }
  if (!found->is_array()) return wrong(std::string("neither a count nor a list of `") + split + "` tasks", line);
  for (const Json& task : *found) {
    if (task.is_string()) {
      read.push_back({.id = task.get<std::string>(), .kind = {}, .seed = read.size()});
      continue;
    }
    const auto id = task.is_object() ? optional_string(task, "id") : std::nullopt;
    if (!id) return wrong("a task without `id`", line);
    const auto seed = task.find("seed");
    const bool numbered = seed != task.end() && seed->is_number_unsigned();
    read.push_back({.id = *id,
                    .kind = optional_string(task, "kind").value_or(""),
                    .seed = numbered ? seed->get<std::uint64_t>() : read.size()});
  }
  return read;
}

Result<void> read_splits(const Json& json, std::string_view line, Hello& hello) {
  const auto tasks = json.find("tasks");
  if (tasks == json.end()) return {};
  if (!tasks->is_object()) return wrong("`tasks` that are no object", line);
  auto training = read_tasks(*tasks, "training", line);
  if (!training) return training.error();
  auto held_out = read_tasks(*tasks, "held_out", line);
  if (!held_out) return held_out.error();
  std::unordered_set<std::string> ids;
  for (const auto* split : {&*training, &*held_out}) {
    for (const Task& task : *split) {
      if (!ids.insert(task.id).second) return wrong("the task `" + task.id + "` twice", line);
    }
  }
  hello.training = *std::move(training);
  hello.held_out = *std::move(held_out);
  return {};
}

}  // namespace

std::string hello_request(long id, bool describe) {
  return line_of({{"id", id}, {"call", "hello"}, {"protocol", protocol_version}, {"describe", describe}});
}

std::string reset_request(long id, const Task& task) {
  return line_of({{"id", id},
                  {"call", "reset"},
                  {"task", {{"id", task.id}, {"kind", task.kind}, {"seed", task.seed}}}});
}

std::string act_request(long id, std::string_view text) {
  return line_of({{"id", id}, {"call", "act"}, {"text", std::string(text)}});
}

std::string bare_request(long id, std::string_view call) { return line_of({{"id", id}, {"call", std::string(call)}}); }

Result<Hello> read_hello(std::string_view line, long id) {
  auto json = read(line, id);
  if (!json) return json.error();
  const auto version = json->find("protocol");
  if (version == json->end() || !version->is_number_integer() || *version != protocol_version) {
    return wrong("another protocol than version " + std::to_string(protocol_version), line);
  }
  Hello hello;
  const auto name = optional_string(*json, "name");
  if (!name || name->empty()) return wrong("no `name`", line);
  hello.name = *name;
  if (const auto limit = json->find("turn_limit"); limit != json->end()) {
    if (!limit->is_number_integer() || *limit < 1 || *limit > 100'000) return wrong("a `turn_limit` below 1", line);
    hello.turn_limit = limit->get<int>();
  }
  if (has_other_type(*json, "expert", is_flag)) return wrong("an `expert` that is neither true nor false", line);
  hello.expert = json->value("expert", Json(false)) == true;
  if (const auto words = json->find("vocabulary"); words != json->end() && !words->is_null()) {
    if (!words->is_array() || !std::ranges::all_of(*words, is_text)) {
      return wrong("a `vocabulary` that is no list of words", line);
    }
    hello.vocabulary = words->get<std::vector<std::string>>();
  }
  auto splits = read_splits(*json, line, hello);
  if (!splits) return splits.error();
  return hello;
}

Result<Reply> read_reset(std::string_view line, long id) {
  auto json = read(line, id);
  if (!json) return json.error();
  return read_reply(*json, line);
}

Result<Reply> read_act(std::string_view line, long id, std::string_view text) {
  auto json = read(line, id);
  if (!json) return json.error();
  auto reply = read_reply(*json, line);
  if (!reply) return reply.error();
  if (!reply->valid) {
    reply->action = "invalid";
  } else if (reply->action.empty()) {
    reply->action = std::string(text);
  }
  return reply;
}

Result<std::optional<double>> read_score(std::string_view line, long id) {
  auto json = read(line, id);
  if (!json) return json.error();
  return read_reward(*json, line);
}

Result<std::optional<std::string>> read_expert(std::string_view line, long id) {
  auto json = read(line, id);
  if (!json) return json.error();
  if (has_other_type(*json, "action", is_text)) return wrong("an `action` that is no text", line);
  return optional_string(*json, "action");
}

}  // namespace allot::worlds::process
