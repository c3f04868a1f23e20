// What tests of clients begin with: a client, what it reports, and how long it took.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <catch2/catch.hpp>

#include "runtime/remote/client.h"

namespace allot::remote::test::calling {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// `timeout` and `patience` in seconds, as ClientSettings has them.
inline std::unique_ptr<Client> client_of(const std::filesystem::path& path, double timeout = 2, double patience = 5) {
  ClientSettings settings;
  settings.timeout = timeout;
  settings.patience = patience;
  settings.warn = [](const std::string&) {};
  auto client = Client::connect(path, settings);
  if (!client) FAIL(client.error().text());
  return *std::move(client);
}

template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().text());
  return *std::move(result);
}

inline bool within(double seconds, const std::function<bool()>& holds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!holds()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

inline engine::Turn look(bool last = false) {
  engine::Turn turn;
  turn.action = "look";
  turn.tokens = 3;
  turn.last = last;
  return turn;
}

inline engine::Ending scored(double reward) {
  engine::Ending ending;
  ending.reward = reward;
  return ending;
}

}  // namespace allot::remote::test::calling
