#include "runtime/package/exchange/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>

extern char** environ;

namespace allot::package {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kept_error_bytes = 4096;

std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& each) { return each.first == name; });
    if (!changed && !name.starts_with("GIT_")) all.emplace_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

struct Pipe {
  int read = -1, write = -1;
  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error{fmt::format("cannot make a pipe: {}", std::strerror(errno)), ""};
    return Pipe{ends[0], ends[1]};
  }
};

// Ctrl-C and the like, held back while a child runs: it has a group of its own and must be ended first. Signals that the
// process handles or ignores stay as they are.
class Interrupts {
 public:
  Interrupts() {
    ::sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now = {};
      if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) ::sigaddset(&held_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
    file_ = ::signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  Interrupts(const Interrupts&) = delete;
  ~Interrupts() {
    if (file_ >= 0) ::close(file_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int file() const { return file_; }
  const sigset_t& before() const { return before_; }
  // The signal, which then ends nothing but the child; 0 where none came.
  int take() const {
    signalfd_siginfo told = {};
    return ::read(file_, &told, sizeof told) == static_cast<ssize_t>(sizeof told) ? static_cast<int>(told.ssi_signo) : 0;
  }

 private:
  sigset_t held_ = {};
  sigset_t before_ = {};
  int file_ = -1;
};

struct Becoming {
  char** words;
  char** environment;
  int out, err;
  rlim_t file_bytes;
  const sigset_t* signals;
  pid_t parent;
};

// In the child: nothing but calls that are safe there.
[[noreturn]] void become(const Becoming& what) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(SIGKILL));
  if (::getppid() != what.parent) ::_exit(127);  // it ended before that
  ::pthread_sigmask(SIG_SETMASK, what.signals, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(what.out, STDOUT_FILENO);
  ::dup2(what.err, STDERR_FILENO);
  const rlimit limit{what.file_bytes, what.file_bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::execvpe(what.words[0], what.words, what.environment);
  ::_exit(127);
}

// Reads both pipes until they end. Empty where all went well, else why the child must be ended.
std::string listen(const Pipe& out, const Pipe& err, const Interrupts& interrupts, const ChildLimits& limits, ChildAnswer& answer) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits.seconds);
  pollfd watched[] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {interrupts.file(), POLLIN, 0}};
  std::string part(1 << 16, '\0');
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return fmt::format("took more than {} seconds", limits.seconds);
    if (::poll(watched, 3, static_cast<int>(left)) < 0 && errno != EINTR) return std::strerror(errno);
    if (const int signal = interrupts.take(); signal != 0) return fmt::format("was ended by signal {}", signal);
    for (pollfd& each : std::span(watched).first(2)) {
      if (each.fd < 0 || each.revents == 0) continue;
      const ssize_t got = ::read(each.fd, part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        each.fd = -1;
        continue;
      }
      std::string& into = each.fd == out.read ? answer.out : answer.err;
      into.append(part, 0, static_cast<std::size_t>(got));
      if (answer.out.size() > limits.out_bytes) return fmt::format("gave more than {} bytes", limits.out_bytes);
      if (answer.err.size() > kept_error_bytes) answer.err.erase(0, answer.err.size() - kept_error_bytes);
    }
  }
  return {};
}

}  // namespace

Result<ChildAnswer> run_child(const std::vector<std::string>& words,
                              const std::vector<std::pair<std::string, std::string>>& environment, const ChildLimits& limits) {
  std::vector<std::string> own_words = words;
  std::vector<std::string> own_environment = environment_of(environment);
  const std::vector<char*> arguments = pointers(own_words);
  const std::vector<char*> variables = pointers(own_environment);
  const auto out = Pipe::make();
  if (!out) return out.error();
  const auto err = Pipe::make();
  if (!err) return err.error();
  const Interrupts interrupts;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become({const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()), out->write, err->write,
            limits.file_bytes, &interrupts.before(), parent});
  }
  ::close(out->write);
  ::close(err->write);
  ChildAnswer answer;
  const std::string problem = child < 0 ? std::strerror(errno) : listen(*out, *err, interrupts, limits, answer);
  if (child > 0 && !problem.empty()) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
  }
  ::close(out->read);
  ::close(err->read);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!problem.empty()) return Error{fmt::format("{} {}", words.front(), problem), ""};
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return answer;
}

Result<WorkFolder> WorkFolder::make(const fs::path& parent) {
  std::error_code failure;
  std::string pattern = ((parent.empty() ? fs::temp_directory_path(failure) : parent) / (std::string(name_begins) + "XXXXXX")).string();
  if (failure || ::mkdtemp(pattern.data()) == nullptr) {
    return Error{fmt::format("cannot make a folder for work in {}: {}", fs::path(pattern).parent_path().string(), std::strerror(errno)), ""};
  }
  return WorkFolder(pattern);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace allot::package
