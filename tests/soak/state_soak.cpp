// state_soak PROMPTS ITERATIONS [FOLDER]: what an engine that remembers something of every prompt takes in memory and
// time. A policy that writes to every prompt at each barrier has the first two iterations; then one takes its place that
// writes to those of its batch, 1 % of all. Each iteration is checkpointed, and at the end another engine goes on from
// the last checkpoint.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
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

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of this thread alone, whatever else the machine does.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Of the rows that the last barrier wrote.
std::uintmax_t latest_file(const std::filesystem::path& run) {
  std::filesystem::path latest;
  for (const auto& entry : std::filesystem::directory_iterator(run / "state")) latest = std::max(latest, entry.path());
  return latest.empty() ? 0 : std::filesystem::file_size(latest);
}

// Until the snapshot of the iteration is on disk.
void wait_for(const std::filesystem::path& run, int iteration) {
  const std::string wanted = fmt::format("\"iteration\":{},", iteration);
  for (int tries = 0; tries < 6000; ++tries) {
    std::ifstream stream(run / "state.json");
    std::string line;
    std::getline(stream, line);
    if (line.find(wanted) != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
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
  const int touched = std::max(4, prompts / 100);
  settings.slots = touched;
  settings.group_size = 2;
  settings.native = false;
  auto engine = demand(Engine::create(settings));
  std::vector<PoolPrompt> pool;
  for (int i = 0; i < prompts; ++i) pool.push_back({fmt::format("prompt-{:08}", i), ""});
  const double before = mebibytes("VmRSS:");
  demand(engine->set_pool(pool));
  const double with_pool = mebibytes("VmRSS:");
  double all = 0, few = 0, all_work = 0, few_work = 0, longest_checkpoint = 0;
  std::uintmax_t written = 0;  // rows of the last barrier
  const std::filesystem::path checkpoint = folder / "checkpoint";
  for (int iteration = 0; iteration < iterations; ++iteration) {
    if (iteration == iterations_of_all) {
      SwapRequest request;
      request.text.file = "policy.allot";
      request.text.text = policy;
      const SwapReport report = engine->swap(request);
      if (report.outcome != SwapOutcome::Active) demand(Result<void>(Error{report.reason, ""}));
    }
    std::vector<std::string> order;
    // Spread over the table, as a host draws them.
    for (std::int64_t i = 0; i < touched; ++i) {
      order.push_back(pool[static_cast<std::size_t>((iteration * touched + i) * 7'919 % prompts)].key);
    }
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
    const double work_begins = processor_seconds();
    demand(engine->end_iteration());
    const double seconds = since(begin), work = processor_seconds() - work_begins;
    (iteration < iterations_of_all ? all_work : few_work) = work;
    double& longest = iteration < iterations_of_all ? all : few;
    longest = std::max(longest, seconds);
    wait_for(folder, iteration);  // an iteration takes longer than its snapshot
    const auto saving = std::chrono::steady_clock::now();
    std::filesystem::remove_all(checkpoint);
    std::filesystem::create_directories(checkpoint);
    demand(engine->save_state_in(checkpoint));
    const double saved = since(saving);
    if (iteration > iterations_of_all) longest_checkpoint = std::max(longest_checkpoint, saved);
    written = latest_file(folder);
    fmt::print(stderr, "iteration {}: barrier {:.3f} s ({:.3f} s of work), checkpoint {:.3f} s, {} KiB of rows, {:.0f} MiB\n", iteration, seconds, work, saved,
               written / 1024, mebibytes("VmRSS:"));
  }
  const double after = mebibytes("VmRSS:"), peak = mebibytes("VmHWM:");
  const std::string text = engine->save_state();
  engine.reset();
  engine = demand(Engine::create(settings));
  const auto begin = std::chrono::steady_clock::now();
  demand(engine->restore_from(checkpoint));
  const double restored = since(begin);
  const bool same = engine->save_state() == text;
  fmt::print("{{\"prompts\": {}, \"touched\": {}, \"mib_before\": {:.0f}, \"mib_with_pool\": {:.0f}, \"mib_with_state\": {:.0f}, "
             "\"mib_peak\": {:.0f}, \"bytes_a_prompt\": {:.0f}, \"whole_text_mib\": {:.0f}, \"barrier_of_all_s\": {:.3f}, "
             "\"barrier_s\": {:.3f}, \"barrier_of_all_work_s\": {:.3f}, \"barrier_work_s\": {:.3f}, \"written_mib\": {:.1f}, \"checkpoint_s\": {:.3f}, \"restore_s\": {:.2f}, \"same\": {}}}\n",
             prompts, touched, before, with_pool, after, peak, (after - with_pool) * (1 << 20) / prompts,
             static_cast<double>(text.size()) / (1 << 20), all, few, all_work, few_work, static_cast<double>(written) / (1 << 20), longest_checkpoint,
             restored, same);
  engine.reset();
  std::filesystem::remove_all(folder);
  return same ? 0 : 1;
}
