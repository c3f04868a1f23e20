#include "runtime/package/exchange/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
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

// In the child: nothing but calls that are safe there.
[[noreturn]] void become(char** words, char** environment, int out, int err, rlim_t file_bytes) {
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  const rlimit limit{file_bytes, file_bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::execvpe(words[0], words, environment);
  ::_exit(127);
}

// Reads both pipes until they end. Empty where all went well, else why the child must be ended.
std::string listen(const Pipe& out, const Pipe& err, const ChildLimits& limits, ChildAnswer& answer) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits.seconds);
  pollfd watched[] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
  std::string part(1 << 16, '\0');
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return fmt::format("took more than {} seconds", limits.seconds);
    if (::poll(watched, 2, static_cast<int>(left)) < 0 && errno != EINTR) return std::strerror(errno);
    for (pollfd& each : watched) {
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
  const pid_t child = ::fork();
  if (child == 0) {
    become(const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()), out->write, err->write, limits.file_bytes);
  }
  ::close(out->write);
  ::close(err->write);
  ChildAnswer answer;
  const std::string problem = child < 0 ? std::strerror(errno) : listen(*out, *err, limits, answer);
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
  std::string pattern = ((parent.empty() ? fs::temp_directory_path(failure) : parent) / ".allot-new-XXXXXX").string();
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
