// What many swaps cost: memory over thousands of fresh compiles, decisions a second while cached programs are swapped a
// thousand times a second, and the time from a request to the active policy. One JSON object on the last line of each.
//
//   swap_soak memory [--swaps 5000] [--rate 20]   exit 1 where memory grows
//   swap_soak load [--rounds 11] [--rate 1000]    exit 1 below 0.95 of the events, above 1.5 times the p99.9 of one, or
//                                                 where fewer than 0.95 of the swaps are made
//   swap_soak latency [--swaps 50]                exit 1 above 50 ms
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
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
Clock::duration seconds(double count) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count)); }

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

int mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<int>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
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

Settings settings_of(int slots, const fs::path& run = {}) {
  Settings settings;
  settings.slots = slots;
  settings.group_size = 2;
  settings.turn_limit = 1000;
  settings.run_folder = run;
  return settings;
}

std::unique_ptr<LiveEngine> engine_of(const std::string& text, int slots, const fs::path& run = {}) {
  auto policy = load_policy(text_of(text), {});
  if (!policy) fail(policy.error().text());
  auto engine = LiveEngine::create(settings_of(slots, run), *std::move(policy));
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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool watched = true;  // by a sanitizer, whose own memory and time say nothing of the engine's
#else
constexpr bool watched = false;
#endif

// Fresh compiles, one after the other: memory over time, and mappings of the process, of which code has some of its own.
int memory(const std::vector<std::string>& words) {
  const int swaps = static_cast<int>(option(words, "--swaps", 5000));
  const double rate = option(words, "--rate", 20);  // 0: as fast as it goes
  constexpr int parts = 10;  // as in faults.md 41 the first tenth is warm-up
  auto engine = engine_of(policy_text(20, 0), 4);
  const std::vector<std::string> names = prompts(4);
  const auto begin = Clock::now();
  std::vector<double> megabytes;
  std::vector<int> maps;
  double most = 0, slowest = 0;
  std::int64_t events = 0;
  for (int i = 1; i <= swaps; ++i) {
    auto orders = engine->begin_iteration(i, names);
    if (!orders) fail(orders.error().text());
    std::vector<Slot> slots;
    for (const Start& start : orders->start) slots.emplace_back(*engine, start.group);
    const auto step = [&](int count) {
      for (int event = 0; event < count; ++event) {
        for (Slot& slot : slots) slot.step(), ++events;
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
    if (i * parts / swaps != (i - 1) * parts / swaps) {
      megabytes.push_back(resident_megabytes());
      maps.push_back(mappings());
    }
    if (megabytes.size() > 0) most = std::max(most, resident_megabytes());
    if (rate > 0) std::this_thread::sleep_until(begin + seconds(i / rate));
  }
  const double growth = most - megabytes.front();
  const int more_maps = maps.back() - maps.front();
  fmt::print("{}\n", Json{{"soak", "memory"}, {"swaps", swaps}, {"events", events}, {"seconds", seconds_since(begin)}, {"growth_mib", growth},
                          {"mib", megabytes}, {"mappings", maps}, {"slowest_swap_ms", 1000 * slowest}}.dump());
  return watched || (growth < 5 && more_maps < 50) ? 0 : 1;
}

// How long single events took: buckets a hundredth wide, from 10 ns.
class Histogram {
 public:
  void add(double seconds) {
    const double place = std::log(std::max(seconds, least) / least) / std::log(width);
    ++counts_[std::min(static_cast<std::size_t>(place), counts_.size() - 1)];
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  std::int64_t count() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }
  // In microseconds.
  double percentile(double share) const {
    auto left = static_cast<std::int64_t>(share * static_cast<double>(count()));
    std::size_t i = 0;
    while (i + 1 < counts_.size() && (left -= counts_[i]) >= 0) ++i;
    return 1e6 * least * std::pow(width, static_cast<double>(i) + 0.5);
  }

 private:
  static constexpr double least = 1e-8, width = 1.01;
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(2100);  // up to ten seconds
};

struct Measured {
  double seconds = 0;
  std::int64_t swaps = 0;
  Histogram took;
  double events_a_second() const { return static_cast<double>(took.count()) / seconds; }
};

// Eight threads, one slot each, while programs that are compiled already take turns `rate` times a second; 0: none do.
Measured under_load(const std::vector<std::shared_ptr<Policy>>& cached, double rate, double wanted, int threads) {
  Settings settings = settings_of(threads);
  auto made = LiveEngine::create(settings, cached.front());
  if (!made) fail(made.error().text());
  LiveEngine& engine = **made;
  auto orders = engine.begin_iteration(0, prompts(threads * 20000));
  if (!orders) fail(orders.error().text());
  std::atomic<bool> stop = false;
  std::vector<Histogram> took(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  const auto begin = Clock::now();
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      Slot slot(engine, orders->start[static_cast<std::size_t>(i)].group);
      while (!stop) took[static_cast<std::size_t>(i)].add(slot.step());
    });
  }
  Measured measured;
  while (seconds_since(begin) < wanted) {
    if (rate > 0) {
      SwapRequest request;
      request.policy = cached[static_cast<std::size_t>(measured.swaps + 1) % cached.size()];
      const SwapReport report = engine.swap(request);
      if (report.outcome != SwapOutcome::Active) fail("a cached program was refused: " + report.reason);
      ++measured.swaps;
      std::this_thread::sleep_until(begin + seconds(static_cast<double>(measured.swaps) / rate));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  measured.seconds = seconds_since(begin);
  stop = true;
  for (std::thread& worker : workers) worker.join();
  for (const Histogram& each : took) measured.took.add(each);
  return measured;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of the median, at least 95 % whatever the distribution (order statistics; Conover, Practical Nonparametric Statistics,
// 1999, 3.2): for n values the k-th from either end, where P(Binomial(n, 1/2) < k) <= 0.025; below six the extremes.
std::pair<double, double> interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  double chance = std::pow(0.5, static_cast<double>(n)), below = chance;
  std::size_t k = 0;
  while (below + chance * static_cast<double>(n - k) / static_cast<double>(k + 1) <= 0.025) {
    chance *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    below += chance;
    ++k;
  }
  return {values[k], values[n - 1 - k]};
}

Json told(const std::vector<double>& values) {
  const auto [low, high] = interval(values);
  return Json{{"median", median(values)}, {"low", low}, {"high", high}};
}

int load(const std::vector<std::string>& words) {
  const double wanted = option(words, "--seconds", 1.5);
  const double rate = option(words, "--rate", 1000);
  const int rounds = static_cast<int>(option(words, "--rounds", 11));
  const int threads = static_cast<int>(option(words, "--threads", 8));
  std::vector<std::shared_ptr<Policy>> cached;
  for (int i = 0; i < 8; ++i) {
    auto policy = load_policy(text_of(policy_text(100, i) + refilling), {});
    if (!policy) fail(policy.error().text());
#ifdef ALLOT_HAS_NATIVE
    (*policy)->compile_in_background([](const lang::Program& program) { return compiler::compile(program); });
    (*policy)->wait_for_native();
#endif
    cached.push_back(*std::move(policy));
  }
  (void)under_load(cached, rate, wanted, threads);
  const double before = resident_megabytes();
  constexpr std::array<double, 3> shares{0.5, 0.99, 0.999};
  std::vector<double> ratio, quiet, busy, asked_a_second;
  std::array<std::vector<double>, shares.size()> slower, quiet_us, busy_us;
  std::int64_t swaps = 0;
  double time = 0;
  for (int round = 0; round < rounds; ++round) {  // in turns, so that a busy machine slows both
    std::array<Measured, 2> by_swapping;
    for (const int turn : {0, 1}) {
      const bool swapping = (round + turn) % 2 == 1;
      by_swapping[swapping] = under_load(cached, swapping ? rate : 0, wanted, threads);
    }
    const auto& [without, with] = by_swapping;
    ratio.push_back(with.events_a_second() / without.events_a_second());
    quiet.push_back(without.events_a_second());
    busy.push_back(with.events_a_second());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      quiet_us[i].push_back(without.took.percentile(shares[i]));
      busy_us[i].push_back(with.took.percentile(shares[i]));
      slower[i].push_back(busy_us[i].back() / quiet_us[i].back());
    }
    swaps += with.swaps;
    time += with.seconds;
  }
  const double done = static_cast<double>(swaps) / time;
  Json json{{"bench", "swap"}, {"threads", threads}, {"rounds", rounds}, {"asked_a_second", rate}, {"done_a_second", done}, {"survived", swaps}};
  json["events_a_second"] = {{"without", median(quiet)}, {"with", median(busy)}, {"ratio", told(ratio)}};
  fmt::print("swaps: {:.0f} a second asked, {:.0f} done, {} survived\n", rate, done, swaps);
  const auto line = [](const std::string& what, double without, double with, const std::vector<double>& ratios) {
    const auto [low, high] = interval(ratios);
    fmt::print("{:<22} {:>12.4g} {:>12.4g}   {:.3f} [{:.3f}, {:.3f}]\n", what, without, with, median(ratios), low, high);
  };
  fmt::print("{:<22} {:>12} {:>12}   {}\n", "", "without", "with", "ratio, its median over rounds");
  line("events a second", median(quiet), median(busy), ratio);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::string name = fmt::format("p{:.4g}", 100 * shares[i]);
    line(name + " of an event, us", median(quiet_us[i]), median(busy_us[i]), slower[i]);
    json[name + "_us"] = {{"without", median(quiet_us[i])}, {"with", median(busy_us[i])}, {"ratio", told(slower[i])}};
  }
  json["mib"] = {before, resident_megabytes()};
  fmt::print("resident: {:.1f} MiB before, {:.1f} MiB after\n{}\n", before, resident_megabytes(), json.dump());
  return watched || (done >= 0.95 * rate && median(ratio) >= 0.95 && median(slower.back()) <= 1.5) ? 0 : 1;
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
