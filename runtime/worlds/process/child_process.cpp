#include "runtime/worlds/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "runtime/worlds/process/utf8.h"

extern char** environ;

namespace allot::worlds::process {
namespace {

using namespace std::chrono_literals;

constexpr auto exit_patience = 500ms;   // between the end of a child's output and its end
constexpr auto farewell_patience = 1s;  // between the end of its input and a kill
constexpr std::size_t error_tail_size = 4096;
constexpr std::size_t last_words_size = 300;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Descriptors of 3 and above only: 0, 1 and 2 are the places the child's ends are moved to.
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  const auto failure = [] { return Error{std::string("cannot make a pipe: ") + std::strerror(errno), {}}; };
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure();
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&pipe.read, &pipe.write}) {
    if (end->get() > 2) continue;
    Descriptor moved(::fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (!moved) return failure();
    *end = std::move(moved);
  }
  return pipe;
}

void set_nonblocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// Keeps the SIGPIPE of one write from this thread without touching the process's own handling of it.
class PipeSignalGuard {
 public:
  PipeSignalGuard() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalGuard() {
    const int saved = errno;
    constexpr timespec now{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  PipeSignalGuard(const PipeSignalGuard&) = delete;
  PipeSignalGuard& operator=(const PipeSignalGuard&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnPlan(int input, int output, int errors) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

ChildProcess::ChildProcess(int pid, std::size_t max_line, Descriptor input, Descriptor output, Descriptor errors)
    : pid_(pid),
      max_line_(max_line),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)) {
  for (const Descriptor* end : {&input_, &output_, &errors_}) set_nonblocking(*end);
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& command,
                                                          std::size_t max_line) {
  if (command.empty() || command.front().empty()) return Error{"has an empty command", {}};
  auto input = make_pipe();
  if (!input) return input.error();
  auto output = make_pipe();
  if (!output) return output.error();
  auto errors = make_pipe();
  if (!errors) return errors.error();
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const SpawnPlan plan(input->read.get(), output->write.get(), errors->write.get());
  pid_t pid = -1;
  const int failure =
      ::posix_spawnp(&pid, arguments.front(), &plan.actions, &plan.attributes, arguments.data(), environ);
  if (failure != 0) return Error{"cannot be started (`" + command.front() + "`: " + std::strerror(failure) + ")", {}};
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, max_line, std::move(input->write),
                                                        std::move(output->read), std::move(errors->read)));
}

ChildProcess::~ChildProcess() {
  const bool was_asked_to_end = !input_;
  input_.close();
  if (was_asked_to_end) await_exit(farewell_patience);
  // The whole group: what the child started must not outlive it. Not yet reaped, so the number is still its own.
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool ChildProcess::exited() {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

bool ChildProcess::await_exit(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!exited()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

Error ChildProcess::ended(std::string_view before) {
  std::string cause(before);
  const auto add = [&cause](const std::string& more) { cause.append(cause.empty() ? "" : " and ").append(more); };
  if (!await_exit(exit_patience)) {
    if (cause.empty()) add("closed its output");
  } else {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    const bool by_itself = info.si_code == CLD_EXITED;
    add((by_itself ? "exited with status " : "exited with signal ") + std::to_string(info.si_status));
  }
  drain_errors();
  return Error{std::move(cause), {}};
}

void ChildProcess::drain_errors() {
  std::array<char, 4096> chunk{};
  while (errors_) {
    const auto count = ::read(errors_.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) return errors_.close();
    error_tail_.append(chunk.data(), static_cast<std::size_t>(count));
    if (error_tail_.size() > 2 * error_tail_size) error_tail_.erase(0, error_tail_.size() - error_tail_size);
  }
}

bool ChildProcess::read_output() {
  std::array<char, 65536> chunk{};
  // One chunk a call: a child that never stops printing must run into the limit of a line, not into our memory.
  const auto count = ::read(output_.get(), chunk.data(), chunk.size());
  if (count > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  return count != 0;
}

bool ChildProcess::wait(bool writing, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left <= 0) return false;
  // poll() skips entries with a negative descriptor.
  const pollfd main = writing ? pollfd{input_.get(), POLLOUT, 0} : pollfd{output_.get(), POLLIN, 0};
  std::array<pollfd, 2> pipes{main, pollfd{errors_.get(), POLLIN, 0}};
  const int ready = ::poll(pipes.data(), pipes.size(), static_cast<int>(std::min<long long>(left, 1'000'000)));
  if (ready > 0 && pipes[1].revents != 0) drain_errors();
  return true;
}

Result<void> ChildProcess::send(std::string_view line, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::string bytes(line);
  bytes.push_back('\n');
  for (std::string_view rest = bytes; !rest.empty();) {
    ssize_t count = 0;
    {
      const PipeSignalGuard guard;
      count = ::write(input_.get(), rest.data(), rest.size());
    }
    if (count > 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EINTR) {
      if (wait(true, deadline)) continue;
      return Error{"did not read its input within " + std::to_string(timeout.count()) + " ms", {}};
    } else {
      return ended("");
    }
  }
  return {};
}

Result<std::string> ChildProcess::receive(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (std::size_t searched = 0;;) {
    const auto newline = buffer_.find('\n', searched);
    if (std::min(newline, buffer_.size()) > max_line_) {
      return Error{"printed a line of more than " + std::to_string(max_line_) + " bytes", {}};
    }
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    searched = buffer_.size();
    if (!wait(false, deadline)) {
      drain_errors();
      return Error{(buffer_.empty() ? "gave no answer within " : "stopped in the middle of a line for ") +
                       std::to_string(timeout.count()) + " ms",
                   {}};
    }
    if (!read_output()) return ended(buffer_.empty() ? "" : "stopped in the middle of a line");
  }
}

bool ChildProcess::quiet() {
  drain_errors();
  pollfd output{output_.get(), POLLIN, 0};
  return buffer_.empty() && ::poll(&output, 1, 0) == 0 && !exited();
}

std::string ChildProcess::last_words() {
  drain_errors();
  const auto end = error_tail_.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const auto start = error_tail_.find_last_of('\n', end);
  std::string line = error_tail_.substr(start == std::string::npos ? 0 : start + 1, end - start);
  if (line.size() > last_words_size) line.resize(last_words_size);
  while (const auto bad = first_bad_utf8(line)) line[*bad] = '?';
  std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return line;
}

}  // namespace allot::worlds::process
