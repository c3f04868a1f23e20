// Sockets in the file system, for processes of one user on one machine.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "common/result.h"

namespace allot::remote {

// A file descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  ~Fd() { close(); }
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  void close();

 private:
  int number_ = -1;
};

// `where` is a run's folder, whose socket is `engine.sock` in it, or the socket itself, whose name ends with ".sock".
std::filesystem::path socket_of(const std::filesystem::path& where);

// A listening socket that its owner alone may open (mode 0600), and the lock that makes it the only one there. What an
// earlier process left behind is replaced. Paths of any length: those over the 107 bytes of the kernel go through
// /proc.
struct Listener {
  std::filesystem::path path;
  Fd lock;
  Fd socket;
};
// The lock alone, for a run whose socket is elsewhere.
Result<Fd> lock_at(const std::filesystem::path& path);
Result<Listener> listen_at(const std::filesystem::path& path);

// Does not wait: an error where nobody listens, or where those before us were not taken up yet.
Result<Fd> connect_to(const std::filesystem::path& path);

// Whether a process of this user stands at the other end.
bool same_user(const Fd& socket);

// 16 hexadecimal digits that no other process has.
std::string fresh_id();

}  // namespace allot::remote
