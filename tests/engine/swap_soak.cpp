// What many swaps cost: memory over thousands of fresh compiles, decisions a second while cached programs are swapped a
// thousand times a second, and the time from a request to the active policy. One JSON object on the last line of each.
//
//   swap_soak memory [--swaps 5000] [--rate 20]   exit 1 where memory grows
//   swap_soak load [--seconds 4]                  exit 1 below 0.95 of the decisions, or above 1.5 times the latency
//   swap_soak latency [--swaps 50]                exit 1 above 50 ms
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/swap_desk.h"

using namespace allot;
using namespace allot::engine;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double option(const std::vector<std::string>& words, const std::string& name, double otherwise) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() || found + 1 == words.end() ? otherwise : std::stod(*(found + 1));
}

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "swap_soak: {}\n", what);
  std::exit(1);
}

// `lines` lines of functions and rules; `variant` makes the text another one.
const char* const refilling = "on finish of group g { drop, refill }\nrefill at most 1000000 rounds then train_partial\n";
std::string policy_text(int lines, int variant) {
  std::string text = fmt::format("policy soak\nparam at: real = 0.{}\n", 100 + variant % 800);
  for (int i = 0; i < lines / 2; ++i) text += fmt::format("fn f{}(x: real) -> real = x * {} + {}\n", i, i, 0.5 * i);
  text += "on every turn of group g {\n";
  for (int i = 0; i < lines / 2 - 5; ++i) {
    text += fmt::format("  when f{}(at) + {} < 0 then stop, drop because \"rule {}: {{at}}\"\n", i % std::max(1, lines / 2), i, i);
  }
  text += "  otherwise continue\n}\n";
  return text + fmt::format("# variant {}\n", variant);
}

PolicyText text_of(const std::string& text) {
  PolicyText made;
  made.file = "soak.allot";
  made.text = text;
  made.whole = true;
  return made;
}

std::unique_ptr<LiveEngine> engine_of(const std::string& text, int slots, const fs::path& run = {}) {
  auto policy = load_policy(text_of(text), {});
  if (!policy) fail(policy.error().text());
  Settings settings;
  settings.slots = slots;
  settings.group_size = 2;
  settings.turn_limit = 1000;
  settings.run_folder = run;
  auto engine = LiveEngine::create(settings, *std::move(policy));
  if (!engine) fail(engine.error().text());
  return *std::move(engine);
}

std::vector<std::string> prompts(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("p{}", i));
  return names;
}

// Drives one slot: two rollouts of `turns` turns, again and again with the groups that it is refilled with.
class Slot {
 public:
  Slot(LiveEngine& engine, int group) : engine_(engine), group_(group) {}

  // One event; the seconds it took.
  double step() {
    const auto begin = Clock::now();
    const bool ends = turn_ == turns;
    auto orders = ends ? engine_.ended({group_, sample_}, {Status::Completed, 1.0, std::nullopt, "", ""})
                       : engine_.turn({group_, sample_}, turn());
    const double took = seconds_since(begin);
    if (!orders) fail(orders.error().text());
    for (const Start& start : orders->start) next_ = start.group;
    sample_ = 1 - sample_;
    if (sample_ == 0) ++turn_;
    if (next_ >= 0) {
      group_ = std::exchange(next_, -1);
      sample_ = turn_ = 0;
    }
    return took;
  }

  static constexpr int turns = 16;
  static constexpr int events = 2 * turns + 2;  // of one group

 private:
  Turn turn() const {
    Turn made;
    made.action = turn_ % 2 == 0 ? "look" : "go";
    made.tokens = 1;
    made.last = turn_ + 1 == turns;
    return made;
  }
  LiveEngine& engine_;
  int group_;
  int next_ = -1;
  int sample_ = 0;
  int turn_ = 0;
};

int memory(const std::vector<std::string>& words) {
  const int swaps = static_cast<int>(option(words, "--swaps", 5000));
  const double rate = option(words, "--rate", 20);  // 0: as fast as it goes
  constexpr int warm = 10;  // as in faults.md 41 the first tenth is warm-up
  auto engine = engine_of(policy_text(20, 0), 4);
  const std::vector<std::string> names = prompts(4);
  const auto begin = Clock::now();
  double at_warm = 0, most = 0, slowest = 0;
  std::int64_t decisions = 0;
  for (int i = 1; i <= swaps; ++i) {
    auto orders = engine->begin_iteration(i, names);
    if (!orders) fail(orders.error().text());
    std::vector<Slot> slots;
    for (const Start& start : orders->start) slots.emplace_back(*engine, start.group);
    const auto step = [&](int events) {
      for (int event = 0; event < events; ++event) {
        for (Slot& slot : slots) slot.step(), ++decisions;
      }
    };
    step(Slot::events / 2);
    SwapRequest request;
    request.text = text_of(policy_text(20, i));
    request.expected = engine->policy_hash();
    const SwapReport report = engine->swap(request);
    if (report.outcome != SwapOutcome::Active) fail(report.reason);
    slowest = std::max(slowest, report.seconds);
    step(Slot::events - Slot::events / 2);
    if (auto ended = engine->end_iteration(); !ended) fail(ended.error().text());
    if (i == swaps / warm) at_warm = resident_megabytes();
    if (i > swaps / warm) most = std::max(most, resident_megabytes());
    if (rate > 0) std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(i / rate)));
  }
  const double growth = most - at_warm;
  fmt::print("{}\n", Json{{"soak", "memory"}, {"swaps", swaps}, {"decisions", decisions}, {"seconds", seconds_since(begin)},
                          {"megabytes_warm", at_warm}, {"megabytes_most", most}, {"growth", growth}, {"slowest_swap_ms", 1000 * slowest}}.dump());
  return growth < 5 ? 0 : 1;
}

struct Measured {
  double decisions_a_second = 0;
  double p999 = 0;
  std::int64_t swaps = 0;
};

// Eight threads, one slot each, while programs that are compiled already take turns `rate` times a second.
Measured under_load(const std::vector<std::shared_ptr<Policy>>& cached, double rate, double seconds) {
  constexpr int threads = 8;
  auto engine = engine_of(policy_text(100, 0) + refilling, threads);
  auto orders = engine->begin_iteration(0, prompts(threads * 40000));
  if (!orders) fail(orders.error().text());
  std::atomic<bool> stop = false;
  std::vector<std::vector<float>> took(threads);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      Slot slot(*engine, orders->start[static_cast<std::size_t>(i)].group);
      took[static_cast<std::size_t>(i)].reserve(4 << 20);
      while (!stop) took[static_cast<std::size_t>(i)].push_back(static_cast<float>(slot.step()));
    });
  }
  Measured measured;
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds) {
    if (rate > 0) {
      SwapRequest request;
      request.policy = cached[static_cast<std::size_t>(measured.swaps) % cached.size()];
      if (engine->swap(request).outcome != SwapOutcome::Active) fail("a cached program was refused");
      ++measured.swaps;
      std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(measured.swaps) / rate)));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  const double passed = seconds_since(begin);
  stop = true;
  for (std::thread& worker : workers) worker.join();
  std::vector<float> all;
  for (const auto& each : took) all.insert(all.end(), each.begin(), each.end());
  measured.decisions_a_second = static_cast<double>(all.size()) / passed;
  const auto place = all.begin() + static_cast<std::ptrdiff_t>(0.999 * static_cast<double>(all.size()));
  std::nth_element(all.begin(), place, all.end());
  measured.p999 = *place;
  return measured;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int load(const std::vector<std::string>& words) {
  const double seconds = option(words, "--seconds", 4);
  const double rate = option(words, "--rate", 1000);
  std::vector<std::shared_ptr<Policy>> cached;
  for (int i = 1; i <= 8; ++i) {
    auto policy = load_policy(text_of(policy_text(100, i) + refilling), {});
    if (!policy) fail(policy.error().text());
#ifdef ALLOT_HAS_NATIVE
    (*policy)->compile_in_background([](const lang::Program& program) { return compiler::compile(program); });
    (*policy)->wait_for_native();
#endif
    cached.push_back(*std::move(policy));
  }
  (void)under_load(cached, rate, 0.5);
  std::vector<double> share, latency, quiet;
  std::int64_t swaps = 0;
  for (int round = 0; round < 5; ++round) {  // alternating, so that a busy machine slows both
    const Measured without = under_load(cached, 0, seconds);
    const Measured with = under_load(cached, rate, seconds);
    share.push_back(with.decisions_a_second / without.decisions_a_second);
    latency.push_back(with.p999 / without.p999);
    quiet.push_back(without.decisions_a_second);
    swaps += with.swaps;
  }
  fmt::print("{}\n", Json{{"bench", "swap"}, {"threads", 8}, {"swaps_a_second", static_cast<double>(swaps) / (5 * seconds)},
                          {"decisions_a_second", median(quiet)}, {"share", median(share)}, {"p999_ratio", median(latency)},
                          {"shares", share}, {"p999_ratios", latency}}.dump());
  return median(share) >= 0.95 && median(latency) <= 1.5 ? 0 : 1;
}

int latency(const std::vector<std::string>& words) {
  const int swaps = static_cast<int>(option(words, "--swaps", 50));
  const fs::path run = fs::temp_directory_path() / fmt::format("allot_swap_latency_{}", ::getpid());
  fs::create_directories(run);
  std::vector<double> inside, outside;
  {
    auto engine = engine_of(policy_text(100, 0), 4, run);
    auto desk = SwapDesk::open(*engine, run, {});
    if (!desk) fail(desk.error().text());
    for (int i = 0; i <= swaps; ++i) {
      SwapRequest request;
      request.text = text_of(policy_text(100, i + 1));
      const auto begin = Clock::now();
      const auto report = ask_for_swap(run, request, 30);
      if (!report) fail(report.error().text());
      if (report->outcome != SwapOutcome::Active) fail(report->reason);
      if (i == 0) continue;  // loads the compiler
      outside.push_back(1000 * seconds_since(begin));
      inside.push_back(1000 * report->seconds);
    }
  }
  fs::remove_all(run);
  fmt::print("{}\n", Json{{"bench", "swap latency"}, {"lines", 100}, {"swaps", swaps}, {"engine_ms", median(inside)}, {"request_ms", median(outside)},
                          {"engine_worst_ms", *std::max_element(inside.begin(), inside.end())},
                          {"request_worst_ms", *std::max_element(outside.begin(), outside.end())}}.dump());
  return median(outside) <= 50 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  const std::string what = words.empty() ? "" : words.front();
  if (what == "memory") return memory(words);
  if (what == "load") return load(words);
  if (what == "latency") return latency(words);
  fmt::print(stderr, "swap_soak: memory, load or latency?\n");
  return 2;
}
