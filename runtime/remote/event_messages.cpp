#include "runtime/remote/event_messages.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/remote/frames.h"
#include "runtime/remote/reading.h"

namespace allot::remote {
namespace {

using Json = nlohmann::ordered_json;

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
    for (const char* const matrix : {"gram", "embeddings"}) {
      if (shape.contains(matrix)) check_numbers(shape.at(matrix));
    }
  }
}

}  // namespace

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
  engine::LoggedIteration events = engine::read_events(record);
  for (const engine::LoggedEvent& event : events.events) {
    if (!check_size(event.batch)) refuse("a micro-batch that is too large");
  }
  return events;
}

Result<void> check_size(const engine::MicroBatch& batch) {
  constexpr std::size_t most_numbers = frame_limit / 32;  // with its comma one takes 25 bytes or less
  constexpr std::size_t widest = 1 << 16;
  const std::size_t count = batch.rollouts.size();
  const std::size_t numbers = count + batch.advantages.size() + batch.gram.size() + batch.embeddings.size();
  if (numbers > most_numbers) {
    return Error{fmt::format("The micro-batch has {} numbers, and at most {} travel over the socket.", numbers,
                             most_numbers),
                 "shape smaller micro-batches, or in the process that holds the engine"};
  }
  if (batch.embeddings.size() > count * widest) {
    return Error{fmt::format("An embedding that travels over the socket has at most {} numbers.", widest),
                 "project it to fewer, or shape in the process that holds the engine"};
  }
  return {};
}

}  // namespace allot::remote
