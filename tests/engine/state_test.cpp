// What a policy remembers of many prompts: rows in pages of which moments are taken, and values that move at barriers.
#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/keyed_rows.h"
#include "tests/engine/bench.h"

using namespace allot;
using namespace allot::engine;
using lang::Cell;

namespace {

using Rows = KeyedRows<std::int64_t>;
using Model = std::map<std::string, std::vector<std::int64_t>>;

Model shown(const Rows::Moment& moment) {
  Model all;
  for (std::size_t row = 0; row < moment.size(); ++row) {
    const auto values = moment.values(row);
    all.emplace(moment.key(row), std::vector(values.begin(), values.end()));
  }
  return all;
}

}  // namespace

TEST_CASE("a moment of a table shows what was there, whatever is written afterwards") {
  std::mt19937_64 random(3);
  Rows rows(2);
  Model now;
  std::vector<std::pair<Rows::Moment, Model>> taken;
  for (int step = 0; step < 6'000; ++step) {
    const std::string key = fmt::format("p{}", random() % 400);
    const auto value = static_cast<std::int64_t>(random() % 1000);
    auto row = rows.find(key);
    if (!row) row = rows.add(key, std::vector<std::int64_t>{7, 7});
    rows.change(*row)[1] = value;
    now.try_emplace(key, std::vector<std::int64_t>{7, 7}).first->second[1] = value;
    if (random() % 100 == 0) rows.next_barrier();
    if (random() % 100 == 0) taken.emplace_back(rows.moment(), now);
    if (random() % 300 == 0 && !taken.empty()) taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(random() % taken.size()));
    if (step % 1000 != 999) continue;
    for (const auto& [moment, then] : taken) CHECK(shown(moment) == then);
  }
  CHECK(taken.size() > 20);
  CHECK(shown(Rows(taken.front().first).moment()) == taken.front().second);  // as a table of its own
}

TEST_CASE("another thread reads a moment while the table goes on") {
  Rows rows(1);
  for (int i = 0; i < 2000; ++i) rows.add(fmt::format("p{}", i), std::vector<std::int64_t>{0});
  for (std::int64_t round = 1; round <= 40; ++round) {
    std::atomic<std::int64_t> sum = -1;
    std::jthread reader([&sum, moment = rows.moment()]() mutable {
      std::int64_t all = 0;
      for (std::size_t row = 0; row < moment.size(); ++row) all += moment.values(row).front();
      const Rows::Moment gone = std::move(moment);
      sum = all;
    });
    const std::size_t size = rows.size();
    for (std::size_t row = 0; row < size; ++row) rows.change(row).front() = round;
    rows.add(fmt::format("new{}", round), std::vector<std::int64_t>{0});
    reader.join();
    // As it was before this round: every row but the newest, which nobody has written, has the number of the round before.
    CHECK(sum == (round - 1) * static_cast<std::int64_t>(round == 1 ? size : size - 1));
  }
}

TEST_CASE("no row goes longer than 64 barriers without a new stamp, and a barrier renews no more than it changed or 1/64") {
  Rows rows(1);
  constexpr std::size_t count = 200'000;
  for (std::size_t i = 0; i < count; ++i) rows.add(fmt::format("p{}", i), std::vector<std::int64_t>{0});
  std::mt19937_64 random(5);
  for (int barrier = 0; barrier < 130; ++barrier) {
    rows.next_barrier();
    for (int i = 0; i < 100; ++i) rows.change(random() % count);
    std::size_t renewed = 0;
    rows.renew([&](std::size_t row) {
      ++renewed;
      (void)rows.change(row);
    });
    CHECK(renewed <= count / 64);
    int oldest = rows.now();
    for (std::size_t row = 0; row < count; ++row) oldest = std::min(oldest, rows.stamp(row));
    CHECK(rows.now() - oldest <= 65);  // the 64 parts do not divide the table evenly
  }
}

namespace {

// The barrier as the language has it: every kept value moves, each time, towards its initial one.
struct EveryTime {
  struct Value {
    double beta_a = 1, beta_b = 1, real = 0.5;
    double count = 3;
  };
  std::map<std::string, Value> values;
  void decay() {
    for (auto& [key, v] : values) {
      v.beta_a = 1 + 0.97 * (v.beta_a - 1);
      v.beta_b = 1 + 0.97 * (v.beta_b - 1);
      v.real = 0.5 + 0.5 * (v.real - 0.5);
      v.count = 3.0 + 0.8 * (v.count - 3.0);
    }
  }
};

const char* const three = R"(
policy three
hit when reward >= 1
state belief: beta per prompt = beta(1, 1) decay 0.97
state level: real per prompt = 0.5 decay 0.5
state count: real per prompt = 3 decay 0.8
state kept: real per prompt = 0.0
on finish of group g { train }
on update of batch b { for each g in b.ended { remember kept[g.prompt] = 1.0 } }
)";

}  // namespace

TEST_CASE("values that are moved when somebody looks have the bits of values that are moved at every barrier") {
  const auto policy = bench::policy_of(three);
  StateStore store(policy->program());
  EveryTime model;
  std::mt19937_64 random(11);
  const auto number = [&] { return std::uniform_real_distribution<double>(-9, 9)(random); };
  for (int barrier = 0; barrier < 400; ++barrier) {
    store.decay();
    model.decay();
    for (int i = 0; i < 3; ++i) {
      const std::string key = fmt::format("p{}", random() % 1500);
      EveryTime::Value& value = model.values[key];
      const std::size_t state = random() % 3;
      if (state == 0) store.write_prompt(key, 0, std::vector{Cell::beta(value.beta_a = number(), value.beta_b = number())});
      if (state == 1) store.write_prompt(key, 1, std::vector{Cell::of(value.real = number())});
      if (state == 2) store.write_prompt(key, 2, std::vector{Cell::of(value.count = static_cast<double>(random() % 99))});
      // A row has all of its states, so the others of a new one are the initial ones from here on.
    }
    store.renew();
    if (barrier % 50 != 49) continue;
    for (const auto& [key, value] : model.values) {
      const StateCells cells = store.prompt(key);
      CHECK(cells[0].front() == Cell::beta(value.beta_a, value.beta_b));
      CHECK(cells[1].front() == Cell::of(value.real));
      CHECK(cells[2].front() == Cell::of(value.count));
      std::vector<Cell> read;
      store.read_prompt(key, 2, read);
      CHECK(read == cells[2]);
    }
  }
  CHECK(store.prompts().size() == model.values.size());
  CHECK(store.prompt("nobody")[1].front() == Cell::of(0.5));
}
