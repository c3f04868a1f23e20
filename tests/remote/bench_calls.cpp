// What a call over the socket costs, beside one in the engine's own process.
//
//   remote_bench [CALLS]    CALLS turns of each client (20000); 1 and 8 client processes
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "runtime/remote/client.h"
#include "runtime/remote/server.h"

using namespace allot;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int groups = 8, samples = 64;

template <typename T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(EXIT_FAILURE);
}

engine::Turn turn_of(int number) {
  static const std::array<std::string, 4> actions = {"look", "go north", "take lamp", "open door"};
  engine::Turn turn;
  turn.action = actions[static_cast<std::size_t>(number) % actions.size()];
  turn.observation = "You are in a room with a table. A door leads north, and a lamp stands on the table.";
  turn.tokens = 3;
  turn.logprob = -1.5;
  turn.entropy = 0.75;
  return turn;
}

// Microseconds of each call; every client plays a group of its own.
std::vector<double> play(engine::Engine& engine, int group, int calls) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    const engine::Turn turn = turn_of(i);
    const auto began = Clock::now();
    const auto orders = engine.turn({group, i % samples}, turn);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
    if (!orders || !orders->stop.empty()) std::exit(EXIT_FAILURE);
  }
  return times;
}

std::unique_ptr<engine::Engine> make_engine(const std::filesystem::path& folder) {
  std::ofstream(folder / "bench.allot") << "policy bench\n"
                                           "on every turn of rollout r { when r.turns > 1000000 then stop }\n"
                                           "on finish of group g { when g.flat then drop otherwise train }\n";
  engine::Settings settings;
  settings.policy = folder / "bench.allot";
  settings.slots = groups;
  settings.group_size = samples;
  settings.turn_limit = 2'000'000;
  return must(engine::Engine::create(settings));
}

std::vector<std::string> prompts() {
  std::vector<std::string> names;
  for (int i = 0; i < groups; ++i) names.push_back(fmt::format("p{}", i));
  return names;
}

void print(const char* what, std::vector<double> times, double seconds) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print("{:<28} {:>10.0f} calls a second {:>8.1f} us p50 {:>8.1f} us p99\n", what,
             static_cast<double>(times.size()) / seconds, at(0.5), at(0.99));
}

void write_all(int pipe, const std::vector<double>& times) {
  const char* bytes = reinterpret_cast<const char*>(times.data());
  for (std::size_t left = times.size() * sizeof(double); left > 0;) {
    const ssize_t count = ::write(pipe, bytes, left);
    if (count <= 0) ::_exit(EXIT_FAILURE);
    bytes += count;
    left -= static_cast<std::size_t>(count);
  }
}

void read_all(int pipe, std::vector<double>& times, int count) {
  std::vector<double> own(static_cast<std::size_t>(count));
  char* bytes = reinterpret_cast<char*>(own.data());
  for (std::size_t left = own.size() * sizeof(double); left > 0;) {
    const ssize_t got = ::read(pipe, bytes, left);
    if (got <= 0) std::exit(EXIT_FAILURE);
    bytes += got;
    left -= static_cast<std::size_t>(got);
  }
  times.insert(times.end(), own.begin(), own.end());
}

// The children are forked before the engine has threads, and begin when they are told.
void measure_clients(const std::filesystem::path& folder, int clients, int calls) {
  std::vector<std::array<int, 2>> answers(static_cast<std::size_t>(clients));
  std::array<int, 2> start{};
  if (::pipe(start.data()) != 0) std::exit(EXIT_FAILURE);
  for (int i = 0; i < clients; ++i) {
    auto& pipe = answers[static_cast<std::size_t>(i)];
    if (::pipe(pipe.data()) != 0) std::exit(EXIT_FAILURE);
    if (::fork() != 0) continue;
    char go = 0;
    if (::read(start[0], &go, 1) != 1) ::_exit(EXIT_FAILURE);
    const auto client = must(remote::Client::connect(folder));
    write_all(pipe[1], play(*client, i, calls));
    ::_exit(EXIT_SUCCESS);
  }
  const auto engine = make_engine(folder);
  const auto server = must(remote::Server::open(*engine, folder));
  const auto leader = must(remote::Client::connect(folder));
  must(leader->begin_iteration(0, prompts()));
  const auto began = Clock::now();
  const std::string go(static_cast<std::size_t>(clients), 'g');
  if (::write(start[1], go.data(), go.size()) < 0) std::exit(EXIT_FAILURE);
  std::vector<double> times;
  for (const auto& pipe : answers) read_all(pipe[0], times, calls);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  for (int i = 0; i < clients; ++i) ::wait(nullptr);
  print(fmt::format("{} client process{}", clients, clients == 1 ? "" : "es").c_str(), std::move(times), seconds);
}

}  // namespace

int main(int count, char** words) {
  const int calls = count > 1 ? std::max(1, std::atoi(words[1])) : 20000;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("allot-bench-{}", ::getpid());
  std::filesystem::create_directories(folder);
  for (const int clients : {1, 8}) measure_clients(folder, clients, calls);
  const auto engine = make_engine(folder);
  must(engine->begin_iteration(0, prompts()));
  const auto began = Clock::now();
  std::vector<double> times = play(*engine, 0, calls);
  print("in the engine's process", std::move(times), std::chrono::duration<double>(Clock::now() - began).count());
  std::filesystem::remove_all(folder);
}
