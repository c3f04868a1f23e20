// A client that says whatever it likes.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "runtime/remote/frames.h"
#include "runtime/remote/messages.h"
#include "runtime/remote/socket.h"
#include "tests/remote/calling.h"

namespace allot::remote::test {

class Stranger {
 public:
  explicit Stranger(const std::filesystem::path& path) : socket_(calling::must(connect_to(socket_of(path)))) {}
  void say(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t count = ::send(socket_.number(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (count < 0 && errno != EAGAIN) return;  // the server wants no more
      at += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
  }
  // The next text; none: the server has closed the connection.
  std::optional<std::string> hear() {
    while (!in_.has_next()) {
      pollfd wait{socket_.number(), POLLIN, 0};
      REQUIRE(::poll(&wait, 1, 5000) == 1);
      std::array<char, 4096> bytes;
      const ssize_t count = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
      if (count <= 0) return std::nullopt;
      in_.add(bytes.data(), static_cast<std::size_t>(count));
    }
    return std::string(*in_.next());
  }
  Welcome greet(const std::string& id, std::uint64_t seen = 0, int version = protocol) {
    say(frame(to_text(Greeting{version, id, seen})));
    return read_welcome(hear().value());
  }

 private:
  Fd socket_;
  FrameReader in_;
};

}  // namespace allot::remote::test
