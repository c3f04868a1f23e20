// Swaps while eight threads ask for decisions, and what the threads lose by sharing one engine.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/background_thread.h"
#include "tests/engine/swap_bench.h"

namespace allot::engine::bench {
namespace {

using Json = nlohmann::ordered_json;

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

const char* const refilling = "on finish of group g { drop, refill }\nrefill at most 1000000 rounds then train_partial\n";

std::vector<std::shared_ptr<Policy>> compiled(int count) {
  std::vector<std::shared_ptr<Policy>> policies;
  for (int i = 0; i < count; ++i) {
    auto policy = load_policy(text_of(policy_text(100, i) + refilling), {});
    if (!policy) fail(policy.error().text());
#ifdef ALLOT_HAS_NATIVE
    (*policy)->compile_in_background([](const lang::Program& program) { return compiler::compile(program); });
    (*policy)->wait_for_native();
#endif
    policies.push_back(*std::move(policy));
  }
  return policies;
}

// What goes on beside the threads that ask: nothing; a thread that wakes as often as swaps are asked for and does nothing,
// since on a machine with few cores that alone takes time from others; or that thread, swapping.
enum class Beside { Nothing, Waking, Swapping };
constexpr std::array every_beside{Beside::Nothing, Beside::Waking, Beside::Swapping};
constexpr std::array<const char*, every_beside.size()> names{"nothing", "waking", "swapping"};

constexpr std::size_t place_of(Beside beside) { return static_cast<std::size_t>(beside); }

// Some threads, one slot each, while programs that are compiled already take turns `rate` times a second.
Measured under_load(const std::vector<std::shared_ptr<Policy>>& cached, Beside beside, double rate, double wanted, int threads) {
  const auto engine = engine_of(settings_of(threads), cached.front());
  auto orders = engine->begin_iteration(0, prompts(threads * 20000));
  if (!orders) fail(orders.error().text());
  std::atomic<bool> stop = false;
  std::vector<Histogram> took(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  const auto begin = Clock::now();
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      SlotClient slot(*engine, orders->start[static_cast<std::size_t>(i)].group);
      while (!stop) took[static_cast<std::size_t>(i)].add(slot.step());
    });
  }
  Measured measured;
  std::thread swapping([&] {
    if (beside == Beside::Nothing) return;
    yield_to_deciding_threads();  // as the desk's threads do
    for (std::int64_t done = 0; seconds_since(begin) < wanted; std::this_thread::sleep_until(begin + seconds(static_cast<double>(done) / rate))) {
      ++done;
      if (beside == Beside::Waking) continue;
      SwapRequest request;
      request.policy = cached[static_cast<std::size_t>(done) % cached.size()];
      const SwapReport report = engine->swap(request);
      if (report.outcome != SwapOutcome::Active) fail("a cached program was refused: " + report.reason);
      measured.swaps = done;
    }
  });
  std::this_thread::sleep_until(begin + seconds(wanted));
  swapping.join();
  measured.seconds = seconds_since(begin);
  stop = true;
  for (std::thread& worker : workers) worker.join();
  for (const Histogram& each : took) measured.took.add(each);
  return measured;
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

}  // namespace

namespace {

using Each = std::array<std::vector<double>, every_beside.size()>;  // one value a round

// One line of the table, and what it says in JSON: medians, and ratios within a round.
Json compared(const std::string& what, const Each& values) {
  const auto ratios = [&](Beside over) {
    std::vector<double> made;
    const auto& swapping = values[place_of(Beside::Swapping)];
    for (std::size_t i = 0; i < swapping.size(); ++i) made.push_back(swapping[i] / values[place_of(over)][i]);
    return made;
  };
  Json json;
  std::string line = fmt::format("{:<22}", what);
  for (std::size_t i = 0; i < values.size(); ++i) {
    json[names[i]] = median(values[i]);
    line += fmt::format(" {:>10.4g}", median(values[i]));
  }
  for (const Beside over : {Beside::Nothing, Beside::Waking}) {
    const Json ratio = json[fmt::format("over_{}", names[place_of(over)])] = told(ratios(over));
    line += fmt::format("   {:.3f} [{:.3f}, {:.3f}]", ratio["median"].get<double>(), ratio["low"].get<double>(), ratio["high"].get<double>());
  }
  fmt::print("{}\n", line);
  return json;
}

}  // namespace

int load(const std::vector<std::string>& words) {
  const double wanted = option(words, "--seconds", 1.5);
  const double rate = option(words, "--rate", 1000);
  const int rounds = static_cast<int>(option(words, "--rounds", 30));
  const int threads = static_cast<int>(option(words, "--threads", 8));
  // What the groups of one round took serves the next: a heap that grows holds up all threads at once, swaps or none.
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const auto cached = compiled(8);
  (void)under_load(cached, Beside::Swapping, rate, wanted, threads);
  constexpr std::array<double, 3> shares{0.5, 0.99, 0.999};
  Each events;
  std::array<Each, shares.size()> times;
  std::int64_t swaps = 0;
  double time = 0;
  std::array order = every_beside;
  const auto begin = Clock::now();
  for (int round = 0; round < rounds; ++round) {  // in turns, each order as often, so that a busy machine slows all
    if (round > 0 && ::isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\rround {} of {}, {:.0f} s left ", round + 1, rounds, seconds_since(begin) / round * (rounds - round));
    }
    for (const Beside beside : order) {
      const Measured measured = under_load(cached, beside, rate, wanted, threads);
      events[place_of(beside)].push_back(measured.events_a_second());
      for (std::size_t i = 0; i < shares.size(); ++i) times[i][place_of(beside)].push_back(measured.took.percentile(shares[i]));
      if (beside != Beside::Swapping) continue;
      swaps += measured.swaps;
      time += measured.seconds;
    }
    std::next_permutation(order.begin(), order.end());
  }
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:40}\r", "");
  const double done = static_cast<double>(swaps) / time;
  Json json{{"bench", "swap"}, {"threads", threads}, {"rounds", rounds}, {"asked_a_second", rate}, {"done_a_second", done}, {"survived", swaps}};
  fmt::print("swaps: {:.0f} a second asked, {:.0f} done, {} survived\n", rate, done, swaps);
  fmt::print("beside the threads:    {:>10} {:>10} {:>10}   {:<22} {}\n", names[0], names[1], names[2], "swapping over nothing", "over waking");
  json["events_a_second"] = compared("events a second", events);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::string name = fmt::format("p{:.4g}", 100 * shares[i]);
    json[name + "_us"] = compared(name + " of an event, us", times[i]);
  }
  fmt::print("{}\n", json.dump());
  const bool events_hold = json["events_a_second"]["over_nothing"]["median"] >= 0.95;
  const bool times_hold = json["p99.9_us"]["over_nothing"]["median"] <= 1.5;
  return watched || (done >= 0.95 * rate && events_hold && times_hold) ? 0 : 1;
}

namespace {

void work(double microseconds) {
  const auto until = Clock::now() + seconds(1e-6 * microseconds);
  while (Clock::now() < until) continue;
}

// Events a second of `threads` clients that work for so long between two events: of one engine, or each of its own.
double events_a_second(const std::shared_ptr<Policy>& policy, int threads, bool shared, double microseconds, double wanted) {
  std::vector<std::unique_ptr<LiveEngine>> engines;
  std::vector<std::pair<LiveEngine*, int>> groups;
  for (int i = 0; i < (shared ? 1 : threads); ++i) {
    const int slots = shared ? threads : 1;
    engines.push_back(engine_of(settings_of(slots), policy));
    auto orders = engines.back()->begin_iteration(0, prompts(slots * 100000));
    if (!orders) fail(orders.error().text());
    for (const Start& start : orders->start) groups.emplace_back(engines.back().get(), start.group);
  }
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> events = 0;
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> clients;
    for (const auto& [engine, group] : groups) {
      clients.emplace_back([&, engine = engine, group = group] {
        SlotClient slot(*engine, group);
        std::int64_t own = 0;
        for (; !stop; ++own) {
          slot.step();
          work(microseconds);
        }
        events += own;
      });
    }
    std::this_thread::sleep_for(seconds(wanted));
    stop = true;
  }
  return static_cast<double>(events) / seconds_since(begin);
}

}  // namespace

// What clients lose by sharing one lock: the most that a lock for each group could bring.
int sharing(const std::vector<std::string>& words) {
  const int threads = static_cast<int>(option(words, "--threads", 2));
  const double wanted = option(words, "--seconds", 1);
  const auto policy = compiled(1).front();
  Json json{{"bench", "sharing"}, {"threads", threads}};
  for (const double microseconds : {0.0, 1.0, 5.0, 50.0}) {
    std::vector<double> together, apart, ratio;
    for (int round = 0; round < 7; ++round) {
      together.push_back(events_a_second(policy, threads, true, microseconds, wanted));
      apart.push_back(events_a_second(policy, threads, false, microseconds, wanted));
      ratio.push_back(together.back() / apart.back());
    }
    fmt::print("{:>4} us of a client's own work between events: {:>9.0f} events a second of one engine, {:>9.0f} of one each: {:.2f}\n",
               microseconds, median(together), median(apart), median(ratio));
    json[fmt::format("{}_us", microseconds)] = told(ratio);
  }
  fmt::print("{}\n", json.dump());
  return 0;
}

}  // namespace allot::engine::bench
