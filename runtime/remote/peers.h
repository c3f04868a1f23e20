// What the server knows of its clients: connections, which break, and clients, which may come back.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "runtime/remote/frames.h"
#include "runtime/remote/messages.h"
#include "runtime/remote/socket.h"

namespace allot::remote {

using Clock = std::chrono::steady_clock;

struct Connection;

struct Peer {
  std::string id;
  int number = 0;                               // for the switchboard
  std::uint64_t last = 0;                       // of its requests that were carried out
  std::uint64_t serial = 0;                     // of what was sent to it
  Connection* connection = nullptr;             // null: it is away
  std::optional<Clock::time_point> away_since;  // none: connected, or given up
  struct Sent {
    std::uint64_t serial = 0;
    std::string frame;
  };
  std::deque<Sent> unseen;
  std::size_t unseen_bytes = 0;
  std::size_t last_answer = 0;  // bytes; may be large, and whoever asked for it waits for it

  void keep(std::uint64_t number, std::string frame) {
    unseen_bytes += frame.size();
    unseen.push_back({number, std::move(frame)});
  }
  void saw(std::uint64_t until) {
    while (!unseen.empty() && unseen.front().serial <= until) {
      unseen_bytes -= unseen.front().frame.size();
      unseen.pop_front();
    }
  }
};

struct Connection {
  static constexpr std::size_t greeting_limit = 4096;  // bytes

  Fd socket;
  Clock::time_point since = Clock::now();
  FrameReader in{greeting_limit};
  std::string out;
  std::size_t written = 0;
  Peer* peer = nullptr;     // null: it has not said who it is
  bool over = false;        // nothing more comes or goes
  bool last_words = false;  // hears nothing more, and closes when everything is written

  void end() {
    peer = nullptr;
    over = last_words = true;
  }
  bool done() const { return over && (last_words || !in.has_next()); }
  std::size_t unwritten() const { return out.size() - written; }
  bool read();   // what has come; false: the other end is closed
  bool write();  // what can be written without waiting; false: the other end is closed
};

}  // namespace allot::remote
