#include "runtime/remote/socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include <fmt/format.h>

namespace allot::remote {

namespace fs = std::filesystem;

void Fd::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

fs::path socket_of(const fs::path& where) {
  return where.extension() == ".sock" ? where : where / "engine.sock";
}

namespace {

constexpr int backlog = 512;

std::string reason() {
  return std::strerror(errno);
}

struct Address {
  sockaddr_un raw{};
  Fd folder;  // what a path over /proc stands on

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw); }
};

Result<Address> address_of(const fs::path& path) {
  Address address;
  address.raw.sun_family = AF_UNIX;
  std::string text = path.string();
  if (text.size() >= sizeof address.raw.sun_path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    address.folder = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder)
      return Error{fmt::format("The folder {} cannot be opened: {}.", folder.string(), reason()), ""};
    text = fmt::format("/proc/self/fd/{}/{}", address.folder.number(), path.filename().string());
  }
  if (text.size() >= sizeof address.raw.sun_path) {
    return Error{fmt::format("The name {} is too long for a socket ({} bytes fit).", path.filename().string(),
                             sizeof address.raw.sun_path - 1),
                 "give the socket a shorter name"};
  }
  std::memcpy(address.raw.sun_path, text.c_str(), text.size() + 1);
  return address;
}

Fd fresh_socket() {
  return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Error cannot_listen(const fs::path& path) {
  return {fmt::format("No socket can be opened at {}: {}.", path.string(), reason()),
          "a filesystem without sockets or a folder that cannot be written? Name a socket elsewhere, such as "
          "/tmp/run.sock"};
}

}  // namespace

Result<Fd> lock_at(const fs::path& path) {
  std::error_code failure;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failure);
  Fd lock(::open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return cannot_listen(path);
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return cannot_listen(path);
  return Error{fmt::format("Another engine is served at {}.", path.string()),
               "a run has one engine: connect to it, or end its process and those that it forked"};
}

Result<Listener> listen_at(const fs::path& path) {
  auto lock = lock_at(path);
  if (!lock) return lock.error();
  Listener made;
  made.path = path;
  made.lock = *std::move(lock);
  std::error_code failure;
  fs::remove(path, failure);  // of a process that was killed: we have its lock
  auto address = address_of(path);
  if (!address) return address.error();
  made.socket = fresh_socket();
  // The mode of the socket becomes that of the file, at once and for no other file of this process.
  const bool listens = made.socket && ::fchmod(made.socket.number(), 0600) == 0 &&
                       ::bind(made.socket.number(), address->get(), sizeof address->raw) == 0 &&
                       ::listen(made.socket.number(), backlog) == 0;
  if (!listens) return cannot_listen(path);
  return made;
}

Result<Fd> connect_to(const fs::path& path) {
  auto address = address_of(path);
  if (!address) return address.error();
  Fd socket = fresh_socket();
  if (!socket || ::connect(socket.number(), address->get(), sizeof address->raw) != 0) {
    return Error{fmt::format("{}: {}", path.string(), reason()), ""};
  }
  return socket;
}

bool same_user(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

std::string fresh_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace allot::remote
