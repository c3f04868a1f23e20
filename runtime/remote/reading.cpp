#include "runtime/remote/reading.h"

#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace allot::remote {

using Json = nlohmann::ordered_json;

void refuse(const char* what) {
  throw std::invalid_argument(what);
}

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

std::int64_t amount(const Json& json) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const std::uint64_t number = counter(json);
  if (number > most) refuse("a number out of range");
  return static_cast<std::int64_t>(number);
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

}  // namespace allot::remote
