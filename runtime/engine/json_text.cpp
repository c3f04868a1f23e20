#include "runtime/engine/json_text.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace allot::engine {

JsonText& JsonText::value(double number) {
  if (!std::isfinite(number)) return null();
  char digits[32];
  const std::string_view shortest(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  raw(shortest);
  if (shortest.find_first_of(".e") == std::string_view::npos) text_ += ".0";
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
  });
  if (!plain) return raw(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  separate();
  text_ += '"';
  text_ += text;
  text_ += '"';
  return *this;
}

}  // namespace allot::engine
