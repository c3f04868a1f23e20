// What a client reports and waits for: never long, with a default where no engine answers.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "runtime/engine/event_log.h"
#include "runtime/remote/client.h"
#include "runtime/remote/order_messages.h"
#include "runtime/remote/waits.h"

namespace allot::remote {

using engine::Ending;
using engine::EventLog;
using engine::JsonText;
using engine::Orders;
using engine::RolloutRef;
using Seconds = Line::Seconds;

void Client::take_default() {
  ++counts_.defaults;
  if (std::exchange(warned_, true)) return;
  const std::string text = fmt::format(
      "the engine cannot be reached ({}): rollouts go on, and nothing is stopped until it answers", line_.problem());
  settings_.warn ? settings_.warn(text) : fmt::print(stderr, "allot: {}\n", text);
}

std::optional<Answer> Client::decide(Ask ask, const Put& put) {
  ++counts_.calls;
  return settle(line_.ask(ask, put, Seconds(settings_.timeout), true));
}

std::optional<Answer> Client::settle(std::optional<Answer> answer) {
  if (!answer) {
    take_default();
  } else if (!to_end_.empty()) {
    give_up_lost();
  }
  return answer;
}

// A rollout of which the engine does not know all cannot be decided about.
void Client::give_up_lost() {
  EventLog log;
  const Ending ending{engine::Status::Aborted, std::nullopt, std::nullopt,
                      "its reports were lost: the engine could not be reached", ""};
  for (const Key& rollout : std::exchange(to_end_, {}))
    log.ended({rollout.first, rollout.second}, ending, std::nullopt);
  (void)line_.ask(Ask::Events, [&](JsonText& text) { log.put(text); }, Seconds(settings_.timeout), true);
}

bool Client::has_room() {
  if (line_.waiting_bytes() > settings_.most_waiting) line_.look();
  return line_.waiting_bytes() <= settings_.most_waiting;
}

Orders Client::only_stop(RolloutRef rollout) {
  ++counts_.lost;
  driven_.erase({rollout.group, rollout.sample});
  Orders orders = take_mail();
  if (std::find(orders.stop.begin(), orders.stop.end(), rollout) == orders.stop.end()) orders.stop.push_back(rollout);
  return orders;
}

Result<Orders> Client::report(RolloutRef rollout, const EventLog& log, bool over) {
  return alone([&]() -> Result<Orders> {
    const Key key{rollout.group, rollout.sample};
    if (void_.contains(key)) return only_stop(rollout);
    if (!has_room()) {
      void_.insert(key);
      to_end_.insert(key);
      return only_stop(rollout);
    }
    driven_.insert(key);
    auto answer = decide(Ask::Events, [&](JsonText& text) { log.put(text); });
    if (over) driven_.erase(key);
    if (answer && answer->error) return *answer->error;
    return take_mail();
  });
}

Result<Orders> Client::turn(RolloutRef rollout, const engine::Turn& turn) {
  // Here, since the server would end the connection over it, and all that is driven by this client with it.
  if (auto possible = engine::check_turn(rollout, turn); !possible) return possible.error();
  EventLog log;
  log.turn(rollout, turn, true, std::nullopt);
  return report(rollout, log, false);
}

Result<Orders> Client::ended(RolloutRef rollout, const Ending& ending) {
  EventLog log;
  log.ended(rollout, ending, std::nullopt);
  return report(rollout, log, true);
}

Result<Orders> Client::drive(const std::vector<RolloutRef>& rollouts) {
  return alone([&]() -> Result<Orders> {
    std::int64_t restarts = counts_.restarts;
    // Who is there now has started these: they end with no other.
    const auto claim = [&] {
      const bool anew = std::exchange(restarts, counts_.restarts) != counts_.restarts;
      for (const RolloutRef& rollout : rollouts) {
        driven_.insert({rollout.group, rollout.sample});
        void_.erase({rollout.group, rollout.sample});
        if (anew) std::erase(mail_.stop, rollout);  // that is for the one of the engine that is gone
      }
    };
    const auto ask = [&] {
      const Put put = [&](JsonText& text) { put_rollouts(text.key("rollouts"), rollouts); };
      return line_.ask(Ask::Drive, put, Seconds(settings_.timeout), true);
    };
    line_.meet(Seconds(settings_.timeout));
    claim();
    ++counts_.calls;
    auto answer = ask();
    if (counts_.restarts != restarts) {  // another one is met only now
      claim();
      answer = ask();
    }
    answer = settle(std::move(answer));
    if (answer && answer->error) return *answer->error;
    return take_mail();
  });
}

namespace {

bool is_empty(const Orders& orders) {
  return orders.start.empty() && orders.stop.empty() && orders.hold.empty() && orders.release.empty() &&
         orders.closed.empty() && orders.deferred.empty() && !orders.batch_closed;
}

}  // namespace

// Waits without the lock, so that other threads can report meanwhile.
Result<Orders> Client::orders(double wait) {
  const auto possible = wait_of("wait", wait, Zero::Allowed);
  if (!possible) return possible.error();
  const auto until = Line::Clock::now() + std::chrono::duration_cast<Line::Clock::duration>(Seconds(*possible));
  while (true) {
    pollfd waits{-1, POLLIN, 0};
    auto come = alone([&]() -> Result<std::optional<Orders>> {
      line_.look();
      if (line_.refused()) return *line_.refused();
      if (std::exchange(restart_untold_, false)) return restarted();
      if (!is_empty(mail_) || Line::Clock::now() >= until) return std::optional(take_mail());
      waits.fd = line_.descriptor();
      return std::optional<Orders>();
    });
    if (!come) return come.error();
    if (*come) return **std::move(come);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Line::Clock::now());
    const auto part = std::clamp(left, std::chrono::milliseconds(0), slice);
    if (::poll(&waits, 1, static_cast<int>(part.count())) <= 0) settings_.between();
  }
}

}  // namespace allot::remote
