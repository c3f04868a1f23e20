#include "tests/engine/clients.h"

#include <algorithm>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace allot::engine::bench {

void Client::take(const Orders& orders) {
  for (const Start& start : orders.start) {
    for (int sample = start.first; sample < start.first + start.count; ++sample) live_.push_back({{start.group, sample}, start.prompt});
  }
  if (!deaf) {
    for (const RolloutRef& ref : orders.stop) std::erase_if(live_, [&](const Live& live) { return live.ref == ref; });
    for (const RolloutRef& ref : orders.hold) set_held(ref, true);
    for (const RolloutRef& ref : orders.release) set_held(ref, false);
  }
  closed.insert(closed.end(), orders.closed.begin(), orders.closed.end());
  batches_closed += orders.batch_closed;
}

void Client::run() {
  for (std::size_t next = 0; !live_.empty(); ++next) {
    next %= live_.size();
    if (live_[next].held) continue;
    auto orders = event(live_[next]);
    if (!orders) {
      failed = orders.error().text();
      return;
    }
    if (ended_) live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(next));
    take(*orders);
  }
}

void Client::set_held(RolloutRef ref, bool held) {
  for (Live& live : live_) {
    if (live.ref == ref) live.held = held;
  }
}

// What the rollouts of a prompt do is read off its number: every third prompt's agree, and rewards differ.
Result<Orders> Client::event(Live& live) {
  const int number = std::stoi(live.prompt.substr(1));
  ended_ = live.turn == turns_;
  if (ended_) return engine_.ended(live.ref, {Status::Completed, (number * 7 + live.ref.sample * (1 + number % 3)) % 4 / 4.0, std::nullopt, "", ""});
  ++live.turn;
  Turn turn;
  turn.action = number % 3 == 0 ? fmt::format("go {}", live.turn) : fmt::format("go {}", live.turn + live.ref.sample * number % 5);
  turn.tokens = 3;
  turn.last = live.turn == turns_;
  return engine_.turn(live.ref, turn);
}

std::map<std::string, std::string> Outcome::verdicts() const {
  std::map<std::string, std::string> all;
  for (const GroupResult& result : closed) {
    std::string& told = all[fmt::format("{}/{}", result.slot, result.round)];
    CHECK(told.empty());
    told = fmt::format("{} {} {} {}", result.prompt, static_cast<int>(result.fate), result.reason, result.rewards.size());
    for (const int sample : result.subset) told += fmt::format(" {}", sample);
  }
  return all;
}

Outcome drive(Engine& engine, int threads, int turns, const std::vector<std::string>& names, int iteration, Share share) {
  auto orders = engine.begin_iteration(iteration, names);
  if (!orders) FAIL(orders.error().text());
  std::vector<Client> clients(static_cast<std::size_t>(threads), Client(engine, turns));
  for (Client& client : clients) client.deaf = share == Share::Rollouts;
  std::size_t next = 0;
  for (const Start& start : orders->start) {
    for (int sample = 0; sample < start.count; ++sample) {
      Orders own;
      own.start = {{start.group, start.prompt, start.first + sample, 1}};
      clients[next % clients.size()].take(own);
      next += share == Share::Rollouts;
    }
    next += share == Share::Groups;
  }
  {
    std::vector<std::jthread> running;
    for (Client& client : clients) running.emplace_back([&client] { client.run(); });
  }
  Outcome outcome;
  for (const Client& client : clients) {
    if (!client.failed.empty()) FAIL(client.failed);
    outcome.closed.insert(outcome.closed.end(), client.closed.begin(), client.closed.end());
    outcome.batches_closed += client.batches_closed;
  }
  return outcome;
}

}  // namespace allot::engine::bench
