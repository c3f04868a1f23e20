#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/training/run/pool.h"

using namespace allot::training;

TEST_CASE("an epoch holds every task once, whatever the size of the draws") {
  // Public fault 15: a tail that was lost, prompts that were repeated.
  PromptPool pool(7, 3);
  std::multiset<std::size_t> seen;
  std::size_t drawn = 0;
  while (drawn < 21) {
    const auto some = pool.draw(std::min<std::size_t>(4, 21 - drawn));
    seen.insert(some.begin(), some.end());
    drawn += some.size();
  }
  for (std::size_t task = 0; task < 7; ++task) CHECK(seen.count(task) == 3);
}

TEST_CASE("what was not opened is drawn first, in its order") {
  PromptPool pool(10, 1);
  const auto first = pool.draw(6);
  pool.give_back({first[3], first[5]});
  const auto next = pool.draw(3);
  CHECK(next[0] == first[3]);
  CHECK(next[1] == first[5]);
  CHECK(std::find(first.begin(), first.end(), next[2]) == first.end());
}

TEST_CASE("a restored pool draws what the first one would have") {
  PromptPool pool(9, 5);
  pool.draw(13);
  pool.give_back({4, 2});
  PromptPool other(9, 5);
  other.restore(nlohmann::json::parse(pool.save().dump()));
  CHECK(other.draw(20) == pool.draw(20));
  CHECK(other.epoch() == pool.epoch());
}

TEST_CASE("seeds give different orders") { CHECK(PromptPool(50, 1).draw(50) != PromptPool(50, 2).draw(50)); }
