#include "runtime/remote/peers.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace allot::remote {
namespace {

bool would_wait() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

// One piece at a time, so that nobody who sends much keeps others waiting.
bool Connection::read() {
  std::array<char, 64 << 10> bytes;
  const ssize_t count = ::recv(socket.number(), bytes.data(), bytes.size(), 0);
  if (count > 0) in.add(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && would_wait());
}

bool Connection::write() {
  bool open = true;
  while (unwritten() > 0) {
    const ssize_t count = ::send(socket.number(), out.data() + written, unwritten(), MSG_NOSIGNAL);
    if (count < 0) {
      open = would_wait();
      break;
    }
    written += static_cast<std::size_t>(count);
  }
  if (written == out.size() || written > out.size() / 2) {
    out.erase(0, written);
    written = 0;
  }
  return open;
}

}  // namespace allot::remote
