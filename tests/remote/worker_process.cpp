#include "tests/remote/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace allot::remote::test {
namespace {

struct Pipe {
  Fd read, write;
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

std::string program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "remote_worker").string();
}

}  // namespace

Worker::Worker(const std::vector<std::string>& arguments) {
  Pipe in, out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write.number(), STDOUT_FILENO);
  std::string name = program();
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers{name.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  REQUIRE(::posix_spawn(&process_, name.c_str(), &actions, nullptr, pointers.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  to_ = std::move(in.write);
  from_ = std::move(out.read);
}

Worker::Worker(Worker&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      to_(std::move(other.to_)),
      from_(std::move(other.from_)),
      buffer_(std::move(other.buffer_)) {}

Worker::~Worker() {
  kill();
}

void Worker::signal(int number) const {
  ::kill(process_, number);
  if (number == SIGSTOP) ::waitpid(process_, nullptr, WUNTRACED);  // its threads stand still only then
}

void Worker::kill() {
  if (process_ <= 0) return;
  signal(SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void Worker::tell(const std::string& line) {
  const std::string text = line + "\n";
  REQUIRE(::write(to_.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string Worker::hear() {
  while (true) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(from_.number(), bytes.data(), bytes.size());
    if (count <= 0) return "";
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

Answer Worker::ask(const std::string& line) {
  tell(line);
  Answer answer = read_answer(hear());
  if (answer.error) FAIL(answer.error->text());
  return answer;
}

Worker client(const std::filesystem::path& path, double timeout) {
  return Worker({"client", path.string(), fmt::format("{}", timeout)});
}

Worker served(const std::filesystem::path& path) {
  Worker worker({"serve", path.string()});
  REQUIRE(worker.hear() == "ready");
  return worker;
}

namespace {

std::string line_of(const engine::EventLog& log) {
  engine::JsonText text;
  text.begin_object();
  log.put(text);
  return "events " + text.end_object().take();
}

}  // namespace

std::string turn_line(engine::RolloutRef rollout, const engine::Turn& turn) {
  engine::EventLog log;
  log.turn(rollout, turn, true, std::nullopt);
  return line_of(log);
}

std::string ended_line(engine::RolloutRef rollout, const engine::Ending& ending) {
  engine::EventLog log;
  log.ended(rollout, ending, std::nullopt);
  return line_of(log);
}

}  // namespace allot::remote::test
