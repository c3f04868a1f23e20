// JSON, written straight into a text: the journal and the state are written at every barrier, and a tree of values in
// between would cost more than everything else there. Reading is nlohmann's.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace allot::engine {

class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  JsonText& key(std::string_view name) {
    value(name);
    text_ += ':';
    fresh_ = true;
    return *this;
  }

  JsonText& null() { return raw("null"); }
  JsonText& value(bool truth) { return raw(truth ? "true" : "false"); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonText& value(T number) {
    char digits[24];
    return raw({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
  }
  // The shortest digits that read back to the same number, and always as a real; null where it is not finite.
  JsonText& value(double number);
  // Text that is not UTF-8 is written with replacement characters rather than not at all.
  JsonText& value(std::string_view text);
  JsonText& value(const std::string& text) { return value(std::string_view(text)); }
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  template <typename T>
  JsonText& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  // A vector as an array, a map as an object.
  template <typename T>
    requires requires(const T& all) { all.begin(); } && (!std::convertible_to<T, std::string_view>)
  JsonText& value(const T& all) {
    if constexpr (requires { typename T::mapped_type; }) {
      begin_object();
      for (const auto& [name, each] : all) key(name).value(each);
      return end_object();
    } else {
      begin_array();
      for (const auto& each : all) value(each);
      return end_array();
    }
  }
  template <typename T>
  JsonText& member(std::string_view name, const T& of) {
    return key(name).value(of);
  }
  // JSON that was written elsewhere.
  JsonText& raw(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }

  // What follows is a text of its own, right behind this one.
  JsonText& begin_next() {
    fresh_ = true;
    return *this;
  }
  const std::string& text() const { return text_; }
  std::string take() {
    fresh_ = true;
    return std::move(text_);
  }
  void clear() {
    text_.clear();
    fresh_ = true;
  }

 private:
  void separate() {
    if (!fresh_) text_ += ',';
    fresh_ = false;
  }
  JsonText& open(char bracket) {
    separate();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonText& close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }

  std::string text_;
  bool fresh_ = true;  // nothing stands before the next value in its object or array
};

}  // namespace allot::engine
