// state_soak PROMPTS ITERATIONS [FOLDER]: what an engine that remembers something of every prompt takes in memory and
// time. A policy that writes to every prompt at each barrier has the first two iterations; then one takes its place that
// writes to those of its batch.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/engine/engine.h"

namespace {

using namespace allot;
using namespace allot::engine;

const char* const policy = R"(
policy memory
hit when reward >= 1
state belief: beta per prompt = beta(1, 1) decay 0.999
state level: real per prompt = 0.5
on finish of group g { train }
on update of batch b {
  for each g in b.ended {
    remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)
    remember level[g.prompt] = level[g.prompt] * 0.5
  }
}
)";
const char* const of_all = R"(
on update of pool p {
  for each q in p.known { remember level[q] = level[q] + 0.001 }
}
)";
constexpr int iterations_of_all = 2;

double mebibytes(const char* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::strtod(line.c_str() + std::string(name).size() + 1, nullptr) / 1024;
  }
  return 0;
}

template <typename T>
T demand(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "state_soak: {}\n", result.error().text());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace

int main(int count, char** words) {
  const int prompts = count > 1 ? std::atoi(words[1]) : 1'000'000;
  const int iterations = count > 2 ? std::atoi(words[2]) : 5;
  const std::filesystem::path folder = count > 3 ? words[3] : std::filesystem::temp_directory_path() / "allot_state_soak";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "policy.allot") << policy << of_all;
  Settings settings;
  settings.policy = folder / "policy.allot";
  settings.run_folder = folder;
  settings.slots = 4;
  settings.group_size = 2;
  settings.native = false;
  auto engine = demand(Engine::create(settings));
  std::vector<PoolPrompt> pool;
  for (int i = 0; i < prompts; ++i) pool.push_back({fmt::format("prompt-{:08}", i), ""});
  const double before = mebibytes("VmRSS:");
  demand(engine->set_pool(pool));
  const double with_pool = mebibytes("VmRSS:");
  double all = 0, few = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    if (iteration == iterations_of_all) {
      SwapRequest request;
      request.text.file = "policy.allot";
      request.text.text = policy;
      const SwapReport report = engine->swap(request);
      if (report.outcome != SwapOutcome::Active) demand(Result<void>(Error{report.reason, ""}));
    }
    std::vector<std::string> order;
    for (int i = 0; i < 4; ++i) order.push_back(pool[static_cast<std::size_t>((iteration * 4 + i) % prompts)].key);
    Orders orders = demand(engine->begin_iteration(iteration, order));
    for (const Start& start : orders.start) {
      for (int sample = start.first; sample < start.first + start.count; ++sample) {
        Turn turn;
        turn.action = "look";
        turn.last = true;
        demand(engine->turn({start.group, sample}, turn));
        Ending ending;
        ending.reward = sample % 2;
        demand(engine->ended({start.group, sample}, ending));
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    demand(engine->end_iteration());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double& longest = iteration < iterations_of_all ? all : few;
    longest = std::max(longest, seconds);
    fmt::print(stderr, "iteration {}: barrier {:.2f} s, {:.0f} MiB\n", iteration, seconds, mebibytes("VmRSS:"));
  }
  const double after = mebibytes("VmRSS:");
  const double bytes = static_cast<double>(engine->save_state().size()) / (1 << 20);
  fmt::print("{{\"prompts\": {}, \"mib_before\": {:.0f}, \"mib_with_pool\": {:.0f}, \"mib_with_state\": {:.0f}, \"mib_peak\": {:.0f}, "
             "\"bytes_a_prompt\": {:.0f}, \"snapshot_mib\": {:.0f}, \"barrier_of_all_s\": {:.2f}, \"barrier_s\": {:.2f}}}\n",
             prompts, before, with_pool, after, mebibytes("VmHWM:"), (after - with_pool) * (1 << 20) / prompts, bytes, all, few);
  engine.reset();  // it writes the last snapshot in the background
  std::filesystem::remove_all(folder);
  return 0;
}
