// What many swaps cost: memory over thousands of fresh compiles, events a second while cached programs are swapped a
// thousand times a second, and the time from a request to the active policy. One JSON object on the last line of each.
//
//   swap_soak memory [--swaps 5000] [--rate 20]   exit 1 where memory grows; --journal: of a run with a folder
//   swap_soak load [--rounds 30] [--rate 1000]    exit 1 below 0.95 of the events without swaps, above 1.5 times the p99.9
//                                                 of one, or where fewer than 0.95 of the swaps are made
//   swap_soak latency [--swaps 50]                exit 1 above 50 ms
//   swap_soak sharing [--threads 2]               one engine of several threads against one each
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/swap_desk.h"
#include "tests/engine/swap_bench.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::bench;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

fs::path new_folder(const std::string& name) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("allot_swap_{}_{}", name, ::getpid());
  fs::create_directories(folder);
  return folder;
}

// Fresh compiles, one after the other: memory over time, and mappings of the process, of which code has some of its own.
int memory(const std::vector<std::string>& words) {
  const int swaps = static_cast<int>(option(words, "--swaps", 5000));
  const double rate = option(words, "--rate", 20);  // 0: as fast as it goes
  constexpr int parts = 10;  // as in faults.md 41 the first tenth is warm-up
  const bool journal = std::find(words.begin(), words.end(), "--journal") != words.end();
  const fs::path run = journal ? new_folder("memory") : fs::path();
  auto engine = engine_of(policy_text(20, 0), 4, run);
  const std::vector<std::string> names = prompts(4);
  const auto begin = Clock::now();
  std::vector<double> megabytes;
  std::vector<int> maps;
  double most = 0, slowest = 0;
  std::int64_t events = 0;
  for (int i = 1; i <= swaps; ++i) {
    auto orders = engine->begin_iteration(i, names);
    if (!orders) fail(orders.error().text());
    std::vector<SlotClient> slots;
    for (const Start& start : orders->start) slots.emplace_back(*engine, start.group);
    const auto step = [&](int count) {
      for (int event = 0; event < count; ++event) {
        for (SlotClient& slot : slots) slot.step(), ++events;
      }
    };
    step(SlotClient::events / 2);
    SwapRequest request;
    request.text = text_of(policy_text(20, i));
    request.expected = engine->policy_hash();
    const SwapReport report = engine->swap(request);
    if (report.outcome != SwapOutcome::Active) fail(report.reason);
    slowest = std::max(slowest, report.seconds);
    step(SlotClient::events - SlotClient::events / 2);
    if (auto ended = engine->end_iteration(); !ended) fail(ended.error().text());
    if (i * parts / swaps != (i - 1) * parts / swaps) {
      megabytes.push_back(resident_mib());
      maps.push_back(mappings());
    }
    if (megabytes.size() > 0) most = std::max(most, resident_mib());
    if (rate > 0) std::this_thread::sleep_until(begin + seconds(i / rate));
  }
  engine.reset();
  if (journal) fs::remove_all(run);
  const double growth = most - megabytes.front();
  const int more_maps = maps.back() - maps.front();
  fmt::print("{}\n", Json{{"soak", "memory"}, {"journal", journal}, {"swaps", swaps}, {"events", events}, {"seconds", seconds_since(begin)}, {"growth_mib", growth},
                          {"mib", megabytes}, {"mappings", maps}, {"slowest_swap_ms", 1000 * slowest}}.dump());
  return watched || (growth < 5 && more_maps < 50) ? 0 : 1;
}

// Where the time of a swap goes: checking the text, and compiling it.
void add_parts(Json& json, int count) {
  std::vector<double> check, compile;
  for (int i = 0; i < count; ++i) {
    auto begin = Clock::now();
    auto policy = load_policy(text_of(policy_text(100, 500 + i)), {});
    if (!policy) fail(policy.error().text());
    check.push_back(1000 * seconds_since(begin));
#ifdef ALLOT_HAS_NATIVE
    begin = Clock::now();
    if (auto code = compiler::compile((*policy)->program()); !code) fail(code.error().text());
    compile.push_back(1000 * seconds_since(begin));
#endif
  }
  json["check_ms"] = median(check);
  if (!compile.empty()) json["compile_ms"] = median(compile);
}

int latency(const std::vector<std::string>& words) {
  const int swaps = static_cast<int>(option(words, "--swaps", 50));
  const fs::path run = new_folder("latency");
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
  Json json{{"bench", "swap latency"}, {"lines", 100}, {"swaps", swaps}, {"engine_ms", median(inside)}, {"request_ms", median(outside)},
            {"engine_worst_ms", *std::max_element(inside.begin(), inside.end())},
            {"request_worst_ms", *std::max_element(outside.begin(), outside.end())}};
  add_parts(json, std::max(1, swaps / 5));
  fmt::print("{}\n", json.dump());
  return watched || median(outside) <= 50 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  const std::string what = words.empty() ? "" : words.front();
  if (what == "memory") return memory(words);
  if (what == "load") return load(words);
  if (what == "latency") return latency(words);
  if (what == "sharing") return sharing(words);
  fmt::print(stderr, "swap_soak: memory, load, latency or sharing?\n");
  return 2;
}
