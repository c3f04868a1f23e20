// Repositories whose server does not do its part; what good ones give is tested from outside (tests/cli/packages_test.py).
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/package/exchange/sources.h"

using namespace allot;
using namespace std::chrono_literals;

namespace {

// Connections are accepted by the system, and nobody answers.
class Silent {
 public:
  Silent() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ::ntohs(address.sin_port);
  }
  ~Silent() { ::close(socket_); }
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;
  std::string address() const { return fmt::format("http://127.0.0.1:{}/gates.git", port_); }

 private:
  int socket_ = -1;
  int port_ = 0;
};

}  // namespace

TEST_CASE("a repository whose server says nothing is given up, whether a revision is named or not") {
  ::setenv("no_proxy", "127.0.0.1", 1);
  const Silent server;
  for (const char* const revision : {"", "v1.0.0"}) {
    const auto began = std::chrono::steady_clock::now();
    const auto read = package::read_git(server.address(), revision, 2s);
    const auto took = std::chrono::steady_clock::now() - began;
    REQUIRE_FALSE(read);
    CHECK(read.error().what == "git fetch: no end within 2 seconds");
    CHECK(read.error().help.find("server") != std::string::npos);
    CHECK(took >= 900ms);
    CHECK(took < 15s);  // and not once more for another way of asking
  }
}
