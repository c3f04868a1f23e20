#include "runtime/engine/checked_line.h"

#include <nlohmann/json.hpp>

#include "runtime/math/checksum.h"

namespace allot::engine {
namespace {

constexpr std::string_view mark = ",\"crc\":\"";
constexpr std::size_t digits = 8;
constexpr std::string_view tail = "\"}";

}  // namespace

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string seal(std::string object) {
  object.pop_back();  // the closing brace comes after the checksum
  const std::string sum = math::crc32c_hex(object);
  object += mark;
  object += sum;
  object += tail;
  return object;
}

bool is_sealed(std::string_view line) {
  const std::size_t end = mark.size() + digits + tail.size();
  if (line.size() <= end || !line.ends_with(tail)) return false;
  const std::string_view body = line.substr(0, line.size() - end);
  const std::string_view rest = line.substr(body.size());
  return rest.starts_with(mark) && rest.substr(mark.size(), digits) == math::crc32c_hex(body);
}

std::optional<nlohmann::ordered_json> unseal(std::string_view line) {
  if (!is_sealed(line)) return std::nullopt;
  auto json = nlohmann::ordered_json::parse(line, nullptr, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

void LineChain::add(std::string_view sealed) { checksums_ += sealed.substr(sealed.size() - tail.size() - digits, digits); }

std::string LineChain::sum_so_far() const { return checksums_.empty() ? sum_ : math::sha256_hex(sum_ + checksums_); }

std::string LineChain::sum() {
  restart(sum_so_far());
  return sum_;
}

void LineChain::restart(std::string sum) {
  sum_ = std::move(sum);
  checksums_.clear();
}

}  // namespace allot::engine
