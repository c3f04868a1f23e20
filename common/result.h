// Results for what a user can cause; exceptions stay for what nobody should.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace allot {

// What happened, where, and what to do next. `what` is a full sentence without a trailing newline.
struct Error {
  std::string what;
  std::string help;  // empty where there is nothing better to say
  std::string text() const { return help.empty() ? what : what + "\n  help: " + help; }
};

// Either a value or an Error. Test it before use: `if (!result) return result.error();`
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace allot
