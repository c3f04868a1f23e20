// An engine that answers whatever it likes.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/result.h"
#include "runtime/remote/frames.h"
#include "runtime/remote/messages.h"
#include "runtime/remote/socket.h"
#include "tests/remote/calling.h"

namespace allot::remote::test {

// Greets everybody, one after the other, and has `answer` answer the n-th request of a connection that it is sent, from
// 0; none: it closes the connection. Whom it refuses it tells so. Where it is `replaced`, another engine greets over
// each connection.
class Impostor {
 public:
  using Answers = std::function<std::optional<std::string>(std::string_view request, int n)>;

  Impostor(const std::filesystem::path& where, Answers answers, std::optional<Error> refused = std::nullopt,
           bool replaced = false)
      : listener_(calling::must(listen_at(socket_of(where)))),
        answers_(std::move(answers)),
        refused_(std::move(refused)),
        replaced_(replaced),
        thread_([this](const std::stop_token& stop) { work(stop); }) {}

  int connections() const { return connections_; }

 private:
  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (!comes(listener_.socket)) continue;
      const Fd socket(::accept(listener_.socket.number(), nullptr, nullptr));
      if (!socket) continue;
      ++connections_;
      talk(socket, stop);
    }
  }

  static bool comes(const Fd& socket) {
    pollfd wait{socket.number(), POLLIN, 0};
    return ::poll(&wait, 1, 20) == 1;
  }

  static void say(const Fd& socket, const std::string& text) {
    const std::string framed = frame(text);
    (void)!::send(socket.number(), framed.data(), framed.size(), MSG_NOSIGNAL);
  }

  void talk(const Fd& socket, const std::stop_token& stop) const {
    FrameReader in;
    bool greeted = false;
    int n = 0;
    while (!stop.stop_requested()) {
      if (!comes(socket)) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = ::recv(socket.number(), bytes.data(), bytes.size(), 0);
      if (count <= 0) return;
      in.add(bytes.data(), static_cast<std::size_t>(count));
      while (const auto text = in.next()) {
        if (!greeted) {
          greeted = true;
          const std::string name = replaced_ ? "impostor" + std::to_string(connections_) : "impostor";
          say(socket, to_text(Welcome{name, 0, refused_}));
          continue;
        }
        const auto answer = answers_(*text, n++);
        if (!answer) return;
        say(socket, *answer);
      }
    }
  }

  Listener listener_;
  Answers answers_;
  std::optional<Error> refused_;
  bool replaced_;
  std::atomic<int> connections_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace allot::remote::test
