// ledger_soak EVENTS [SEED]: random histories of the ledger against a plain model, each event checked.
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "tests/engine/ledger_model.h"

int main(int count, char** words) {
  const std::int64_t events = count > 1 ? std::atoll(words[1]) : 10'000'000;
  const std::uint64_t seed = count > 2 ? std::strtoull(words[2], nullptr, 10) : 1;
  const auto begin = std::chrono::steady_clock::now();
  const auto told = allot::engine::bench::random_ledger_history(seed, events);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (told.problem) {
    fmt::print(stderr, "ledger_soak: {}\n", *told.problem);
    return 1;
  }
  fmt::print("{{\"events\": {}, \"starts\": {}, \"refused\": {}, \"turns\": {}, \"accepted\": {}, \"dropped\": {}, "
             "\"cancelled\": {}, \"deferred\": {}, \"crashes\": {}, \"iterations\": {}, \"seconds\": {:.1f}}}\n",
             told.events, told.starts, told.refused, told.settled, told.accepted, told.dropped, told.cancelled, told.deferred,
             told.crashes, told.iterations, seconds);
  return 0;
}
