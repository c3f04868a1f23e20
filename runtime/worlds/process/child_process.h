// A child process that reads lines and writes lines, with deadlines; knows nothing of what the lines mean.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace allot::worlds::process {

using Clock = std::chrono::steady_clock;

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// The errors of send() and receive() are causes, phrased to follow the name of the world: "exited with signal 9".
class ChildProcess {
 public:
  // Starts `command` (found on PATH, no shell) in a process group of its own, so that Ctrl-C reaches us first.
  static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& command, std::size_t max_line);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  Result<void> send(std::string_view line, std::chrono::milliseconds timeout);
  Result<std::string> receive(std::chrono::milliseconds timeout);  // without the newline
  // Alive, and has printed nothing that was not asked for.
  bool quiet();
  // The last line the child wrote to stderr, cut to 300 bytes; empty where there is none.
  std::string last_words();
  void close_input() { input_.close(); }
  int pid() const { return pid_; }

 private:
  ChildProcess(int pid, std::size_t max_line, Descriptor input, Descriptor output, Descriptor errors);

  bool read_output();  // false at end of file
  void drain_errors();
  // Waits until one of the pipes can be used; false when the deadline has passed.
  bool wait(bool writing, Clock::time_point deadline);
  bool exited();       // has ended; leaves it to be reaped
  bool await_exit(std::chrono::milliseconds patience);
  Error ended(std::string_view before);

  int pid_;
  std::size_t max_line_;
  Descriptor input_;   // we write
  Descriptor output_;  // we read
  Descriptor errors_;  // we read
  std::string buffer_;
  std::string error_tail_;
};

}  // namespace allot::worlds::process
